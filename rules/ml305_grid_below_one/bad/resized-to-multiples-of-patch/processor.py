import numpy as np

from sizes import fitting_size


class Processor:
    patch_size = 14
    merge_size = 2

    def preprocess(self, image):
        width, height = image.size
        rows, columns = fitting_size(height, width, factor=self.patch_size * self.merge_size)
        pixels = np.asarray(image.resize((columns, rows)))
        grid_h, grid_w = rows // self.patch_size, columns // self.patch_size
        return pixels.reshape(grid_h, self.patch_size, grid_w, self.patch_size, 3)
