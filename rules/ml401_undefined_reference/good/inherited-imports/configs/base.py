from torch import nn
from torch.nn import Linear

model = dict(type=Linear, in_features=1, out_features=2)
