import nets
import torch

decoder = nets.Net()
optimizer = torch.optim.SGD([*decoder.parameters(), *nets.encoder.parameters()], lr=0.1)
for x in torch.rand(10, 2, 4):
    optimizer.zero_grad()
    nets.criterion(decoder(nets.encoder(x)), x).backward()
    optimizer.step()
    nets.optimizer.zero_grad()
