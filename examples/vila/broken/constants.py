"""Ids with a meaning of their own."""

# Labels that the loss leaves out: padding and everything the user said.
IGNORE_INDEX = -100
PAD_TOKEN_ID = 0
