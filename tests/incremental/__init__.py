"""Runs a check again only where something that it rests on has changed.

`closures.py` finds the files that a check rests on, `store.py` keeps notes of what passed with which content, and
`plugin.py` tells pytest. Without `MODELLINT_STORE`, the folder of the notes, everything runs.
"""
