"""What a study leaves on disk: journal, tables, manifest, page."""
