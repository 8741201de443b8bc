def build(width):
    return width
