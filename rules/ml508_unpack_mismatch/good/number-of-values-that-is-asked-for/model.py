from encoder import Encoder


def run(x):
    found = Encoder(3)(x)
    if len(found) == 3:
        hidden, attention, scores = found
    else:
        (hidden, attention), scores = found, None
    return hidden
