"""Studies, statistics, charts, pages and the command line."""
