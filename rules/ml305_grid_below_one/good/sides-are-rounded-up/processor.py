import numpy as np


def preprocess(image, patch=16):
    height, width = image.shape[-2:]
    rows, columns = (height + patch - 1) // patch * patch, -(-width // patch) * patch
    padded = np.zeros((3, rows, columns))
    padded[:, :height, :width] = image
    return padded.reshape(3, rows // patch, patch, columns // patch, patch)
