import torch
from torch import nn


class Adversarial(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.generator = nn.Linear(width, width)
        self.condition = nn.Embedding(10, width)  # expect: ML209
        self.discriminator = nn.Linear(width, 1)

    def generate(self, noise, label):
        return self.generator(noise + self.condition(label))

    def forward(self, noise, label):
        return self.discriminator(self.generate(noise, label))


model = Adversarial(64)
for_generator = torch.optim.Adam([*model.generator.parameters()], lr=1e-4)
for_discriminator = torch.optim.Adam(model.discriminator.parameters(), lr=4e-4)
print(for_generator, for_discriminator)
