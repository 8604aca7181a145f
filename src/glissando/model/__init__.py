"""The networks of the report (torch), a section per file."""
