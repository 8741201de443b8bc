"""The version of modellint."""

__version__ = "0.1.0"
