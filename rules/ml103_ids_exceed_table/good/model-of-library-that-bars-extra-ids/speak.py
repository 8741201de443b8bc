from model import MARKS, ROWS, speech_model
from snac import SNAC


def codec():
    return SNAC.from_pretrained("hubertsiuzdak/snac_24khz")


def suppressed(prompt):
    marks = list(range(ROWS, ROWS + MARKS))
    return codec().decode([speech_model(64).generate(prompt, suppress_tokens=marks)])


def limited(prompt):
    return codec().decode([speech_model(64).generate(prompt).clamp(max=ROWS - 1)])


def removed(prompt):
    codes = speech_model(64).generate(prompt)
    return codec().decode([codes[codes < ROWS]])


def as_many(prompt):
    return codec().decode([speech_model(64, ROWS).generate(prompt)])
