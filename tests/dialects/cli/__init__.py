"""A project with LightningCLI, its configurations, and what the real one says of them."""
