class Net:
    def __init__(self, width, depth=2):
        self.width, self.depth = width, depth
