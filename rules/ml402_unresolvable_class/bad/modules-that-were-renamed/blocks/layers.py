class Encoder:
    def __init__(self, width):
        self.width = width
