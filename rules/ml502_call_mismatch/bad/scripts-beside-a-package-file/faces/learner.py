from torch import nn


class Learner:
    def __init__(self, width):
        self.model = nn.Linear(8, width)
