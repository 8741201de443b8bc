import torch.nn as nn

net = nn.Sequential([nn.Linear(3, 3) for _ in range(2)])  # expect: ML503
