import torch


class Greedy:
    def run(self, x):
        return x, x

    def __call__(self, x):
        return self.run(x)


class Beam(Greedy):
    def run(self, x):
        return x


def best(x: torch.Tensor):
    return Beam()(x).detach()
