import math


def fitting_size(height, width, factor=28, max_pixels=1_000_000):
    rows = max(factor, round(height / factor) * factor)
    columns = max(factor, round(width / factor) * factor)
    if rows * columns > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        rows = max(factor, math.floor(height / shrink / factor) * factor)
        columns = max(factor, math.floor(width / shrink / factor) * factor)
    return rows, columns


def preprocess(image, patch=14):
    width, height = image.size
    rows, columns = fitting_size(height, width)
    pixels = image.resize((columns, rows)).pixels
    return pixels.reshape(rows // patch, patch, columns // patch, patch)
