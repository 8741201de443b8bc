import lightning as L
import torch
from torch import nn


class Field(L.LightningModule):
    """What the loss is made of asks for a gradient, so that the energy can be derived."""

    def __init__(self, energy):
        super().__init__()
        self.energy = energy

    def training_step(self, batch, batch_idx):
        positions = batch["positions"].requires_grad_()
        forces = torch.autograd.grad(self.energy(positions).sum(), positions, create_graph=True)[0]
        return (forces - batch["forces"]).square().mean()
