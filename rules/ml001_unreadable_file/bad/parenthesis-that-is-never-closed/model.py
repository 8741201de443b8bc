import torch.nn as nn

layer = nn.Linear(80,  # expect: ML001
