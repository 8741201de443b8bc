class Net:
    def __init__(self, optimizer):
        self.optimizer = optimizer
