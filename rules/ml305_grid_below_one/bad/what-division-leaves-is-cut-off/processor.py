def preprocess(image, patch=14):
    width, height = image.size
    width -= width % patch  # expect: ML305
    height -= height % patch  # expect: ML305
    pixels = image.crop((0, 0, width, height)).pixels
    return pixels.reshape(height // patch, patch, width // patch, patch, -1)
