class Images:
    def __init__(self, transform, root, size=32):
        self.transform, self.root, self.size = transform, root, size
