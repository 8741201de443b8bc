import torch
from torch import nn

encoder = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2))
image = torch.rand(3, 32, 32)
features = encoder(image)
maps = features.flatten(1)
print((maps @ maps.T).shape, features.mean(2).shape)

recurrent = nn.GRU(16, 24)
states, last = recurrent(torch.rand(12, 16))
print(states[-1] + last[0], nn.Conv1d(4, 4, 1)(torch.rand(4, 10)).shape)

attention = nn.MultiheadAttention(24, 2)
out, weights = attention(states, states, states)
print(out.permute(1, 0).shape, weights @ states)

loss = nn.CrossEntropyLoss()(torch.rand(5), torch.tensor(2))
print(loss.item())
