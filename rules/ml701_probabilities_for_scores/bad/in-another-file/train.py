from torch.nn import functional as F

from net import Net


def step(optimizer, batch, labels):
    net = Net()
    loss = F.cross_entropy(net(batch), labels)  # expect: ML701
    loss.backward()
    optimizer.step()
