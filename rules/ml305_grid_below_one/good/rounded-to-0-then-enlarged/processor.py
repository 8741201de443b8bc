import math


def fitting_size(height, width, factor=28, min_pixels=3136):
    rows = round(height / factor) * factor
    columns = round(width / factor) * factor
    if rows * columns < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        rows = math.ceil(height * grow / factor) * factor
        columns = math.ceil(width * grow / factor) * factor
    return rows, columns


def preprocess(image, patch=14):
    width, height = image.size
    rows, columns = fitting_size(height, width)
    pixels = image.resize((columns, rows)).pixels
    return pixels.reshape(rows // patch, patch, columns // patch, patch)
