import torch


def train_step(model, batch, optimizer, config):
    loss = model(batch, config)
    loss.backward()
    optimizer.step()


class Trainer:
    def __init__(self, model, scheduler, *, clip):
        self.model = model

    @torch.no_grad()
    def validate(self, batches, stage):
        return [self.model(batch, stage) for batch in batches]

    def fit(self, batches, optimizer):
        for batch in batches:
            train_step(self.model, batch, optimizer)  # expect: ML502
        self.validate(batches)  # expect: ML502

    @classmethod
    def of(cls, model):
        return Trainer(model, None)  # expect: ML502


def resume(model, batches):
    trainer = Trainer(model, None, clip=1.0)
    trainer.validate(batches, "valid", 3)  # expect: ML502
    return trainer
