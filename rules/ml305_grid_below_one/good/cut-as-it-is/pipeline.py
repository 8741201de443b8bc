def cut(latents, patch):
    channels, height, width = latents.shape
    rows, columns = height // patch, width // patch
    return latents.reshape(channels, rows, patch, columns, patch), rows, columns


def joined(latents, patch):
    patches, rows, columns = cut(latents, patch)
    return patches.reshape(-1, rows * patch, columns * patch)
