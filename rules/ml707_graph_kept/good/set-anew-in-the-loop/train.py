from torch import nn


def train(model: nn.Module, optimizer, loader, every):
    total, losses, last = 0.0, [], []
    for number, inputs in enumerate(loader):
        optimizer.zero_grad()
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()
        total += loss
        losses.append(loss)
        last.append(loss)
        last = last[-20:]
        if number % every == 0:
            print(total, losses)
            total = 0.0
            losses.clear()


class Trainer:
    def __init__(self, model: nn.Module, optimizer):
        self.model, self.optimizer, self.total = model, optimizer, 0.0

    def fit(self, loader, every):
        for number, inputs in enumerate(loader):
            self.optimizer.zero_grad()
            loss = self.model(inputs).mean()
            loss.backward()
            self.optimizer.step()
            self.total += loss
            if number % every == 0:
                self.report()

    def report(self):
        print(self.total)
        self.total = 0.0
