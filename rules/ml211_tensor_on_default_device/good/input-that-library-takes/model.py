import numpy as np
import torch
from chemistry import Molecule, masses, pairs
from torch import nn


class Neighbours(nn.Module):
    def forward(self, inputs: dict[str, torch.Tensor]):
        first, second, shift = self.find(inputs["numbers"], inputs["positions"], inputs["cell"], 5.0)
        inputs["first"], inputs["second"], inputs["shift"] = first, second, shift
        return inputs

    def find(self, numbers: torch.Tensor, positions: torch.Tensor, cell: torch.Tensor, cutoff: float):
        molecule = Molecule(numbers=numbers, positions=positions, cell=cell)
        first, second, shift = pairs("ijS", molecule, cutoff)
        shift = torch.from_numpy(shift).to(dtype=positions.dtype)
        return torch.from_numpy(first), torch.from_numpy(second), torch.mm(shift, cell)


class Centred(nn.Module):
    def forward(self, inputs: dict[str, torch.Tensor]):
        found = torch.tensor(masses[inputs["numbers"]])
        inputs["positions"] -= (found.unsqueeze(-1) * inputs["positions"]).sum(0) / found.sum()
        return inputs


class Ranked(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        order = torch.from_numpy(np.argsort(x, axis=-1).copy())
        return x * order


def main():
    return nn.Sequential(Neighbours(), Centred(), Ranked()).to("cuda")
