"""The language server: `modellint server`."""
