import os  # noqa: F401, ML101
