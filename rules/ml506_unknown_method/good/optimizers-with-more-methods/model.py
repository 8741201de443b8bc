import torch


class Scheduled(torch.optim.Adam):
    def update_rate(self):
        self.param_groups[0]["lr"] *= 0.5


def train(model, prepare):
    optimizer = Scheduled(model.parameters())
    optimizer.update_rate()
    other = prepare(torch.optim.SGD(model.parameters(), lr=0.1))
    other.backward(model.loss())
    third = torch.optim.SGD(model.parameters(), lr=0.1)
    third.swap_moments = lambda: None
    third.swap_moments()
