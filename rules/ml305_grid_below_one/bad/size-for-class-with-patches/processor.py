import torch.nn.functional as F


class Processor:
    patch = 14

    def resize(self, images):
        height, width = images.shape[2], images.shape[3]
        rows, columns = int(height / 28) * 28, int(width / 28) * 28  # expect: ML305
        return F.interpolate(images, size=(rows, columns))

    def patches(self, images):
        batch, channels, height, width = images.shape
        rows, columns = height // self.patch, width // self.patch
        return images.reshape(batch, channels, rows, self.patch, columns, self.patch)
