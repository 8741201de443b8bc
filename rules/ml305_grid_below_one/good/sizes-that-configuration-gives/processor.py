class Processor:
    def __init__(self, height=224, width=224, patch=16):
        self.height, self.width, self.patch = height, width, patch

    def preprocess(self, image):
        rows, columns = self.height // self.patch * self.patch, self.width // self.patch * self.patch
        image = image.resize((columns, rows))
        return image.reshape(3, rows // self.patch, self.patch, columns // self.patch, self.patch)
