import nets
import torch

encoder = nets.Net()  # expect: ML209
decoder = nets.Net()  # expect: ML209
optimizer = nets.optimizer
for x in torch.rand(10, 2, 4):
    optimizer.zero_grad()
    loss = nets.criterion(decoder(encoder(x)), x)
    loss.backward()
    optimizer.step()
