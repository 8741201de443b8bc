"""Recipes and their scripts: what HyperPyYAML makes of a recipe, who loads it, what is used and what is moved."""
