from layers.table import Speech

MODEL = Speech(64, longest=350)
