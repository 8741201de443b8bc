"""Jupyter notebooks: their code as one Python module, and where each line of it stands."""
