import math


def fitting_size(height, width, factor=28, max_pixels=1_000_000):
    rows = math.ceil(height / factor) * factor
    columns = math.ceil(width / factor) * factor
    if rows * columns > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        rows = max(1, math.floor(height / shrink / factor)) * factor  # expect: ML305
        columns = max(1, math.floor(width / shrink / factor)) * factor  # expect: ML305
    return rows, columns
