def centre_crop(image, multiple=8):
    width, height = image.size
    return image.crop((0, 0, width // multiple * multiple, height // multiple * multiple))


def flatten(features, heads):
    length = features.shape[1]
    return features.reshape(len(features), length // heads, heads)
