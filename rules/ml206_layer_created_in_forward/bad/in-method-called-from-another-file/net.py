from torch import nn

from base import Base


class Net(Base):
    def classify(self, x):
        return nn.Linear(x.size(-1), 10)(x)  # expect: ML206
