"""Files of a study on disk: journal, tables and manifest."""
