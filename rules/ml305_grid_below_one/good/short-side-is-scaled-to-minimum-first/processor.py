def preprocess(image, shortest=224, patch=16):
    width, height = image.size
    scale = shortest / min(height, width)
    rows = int(height * scale) // patch * patch
    columns = int(width * scale) // patch * patch
    image = image.resize((columns, rows))
    return image.reshape(3, rows // patch, patch, columns // patch, patch)
