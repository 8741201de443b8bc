import blocks


def __getattr__(name):
    return getattr(blocks, name)
