import torch
from torch import nn


class Schedule:
    def __init__(self, steps):
        self.levels = torch.linspace(1, 0, steps)

    def step(self, output, time, sample):
        at = torch.argmin((self.levels - (time.cpu() if isinstance(time, torch.Tensor) else time)).abs())
        return sample + output * (self.levels[at + 1] - self.levels[at])

    def back(self, output, time, sample):
        far = self.levels - (time if not torch.is_tensor(time) else time.to("cpu"))
        return sample - output * self.levels[torch.argmin(far.abs())]


class Denoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, width)
        self.schedule = Schedule(100)

    def forward(self, x, time):
        output = self.net(x)
        return self.schedule.step(output, time, x) + self.schedule.back(output, time, x)
