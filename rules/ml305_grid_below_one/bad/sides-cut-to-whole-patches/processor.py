class Processor:
    def __init__(self, patch_size=16):
        self.patch_size = patch_size

    def preprocess(self, image):
        height, width = image.shape[-2:]
        height = height // self.patch_size * self.patch_size  # expect: ML305
        width = (width // self.patch_size) * self.patch_size  # expect: ML305
        image = image[..., :height, :width]
        rows, columns = height // self.patch_size, width // self.patch_size
        return image.reshape(-1, rows, self.patch_size, columns, self.patch_size)
