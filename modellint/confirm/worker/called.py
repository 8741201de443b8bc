"""Patterns of parameter names, one for each kind of input."""

from __future__ import annotations

import re

IDS = re.compile(
    r"(?:^|_)(?:ids?|idx|index|indices|tokens?|codes?|labels?|phones?|units?|history|speakers?|prompts?|types?|(?:time)?steps?|t)$"
)
EXAMPLES = re.compile(r"^(?:examples|batch|samples|items|texts|sequences|rows|features|instances|dialogues)$")
MASK = re.compile(r"mask")
LENGTHS = re.compile(r"(?:^|_)len(?:gth)?s$")
POSITIONS = re.compile(r"(?:^|_)pos(?:ition)?s?(?:_ids)?$")
NUMBER = re.compile(r"^(?:n|num|max|n_\w+|num_\w+|max_\w+|steps|size|k|times|missing|\w*len(?:gth)?|\w*offset|start)$")
ENDLESS = re.compile(r"frames|steps|iter|max_(?:new|len)")
WAVES = re.compile(r"wav|audio|signal|speech")
FLOATS = re.compile(
    r"mel|feat|wav|audio|signal|speech|image|pixel|spec|hidden|state|memory|query|f0|energy|noise|latent"
)
SEQUENCES = re.compile(r"hidden|state|memory|query|context|encoded")
STEPS = re.compile(r"^t$|steps?$")
IMAGES = re.compile(r"pixel|image|img|picture")
