def get_size(image, channels_last):
    if channels_last:
        return image.shape[0], image.shape[1]
    return image.shape[1], image.shape[2]


def round_side(side, factor):
    return round(side / factor) * factor  # expect: ML305


def cut(image, factor, channels_last=False):
    height, width = get_size(image, channels_last)
    rows, columns = round_side(height, factor), round_side(width, factor)
    image = image.crop((0, 0, columns, rows))
    return image.reshape(3, rows // factor, factor, columns // factor, factor)
