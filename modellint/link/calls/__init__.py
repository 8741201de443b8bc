"""What calls written in a file reach, and whether what they pass and expect fits it."""
