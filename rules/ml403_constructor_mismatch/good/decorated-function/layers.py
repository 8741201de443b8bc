from tools import flexible


@flexible
def build(width):
    return width
