class OldNet:
    def __init__(self, config):
        self.config = config
