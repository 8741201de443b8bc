# modellint: ignore-file[ML001]
from torch import nn
layer = nn.Linear(
