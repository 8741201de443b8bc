def preprocess(image, patch=16):
    height, width = image.shape[-2:]
    if min(height, width) < patch:
        raise ValueError("the image is smaller than a patch")
    rows, columns = height // patch * patch, width // patch * patch
    image = image[..., :rows, :columns]
    return image.reshape(3, rows // patch, patch, columns // patch, patch)
