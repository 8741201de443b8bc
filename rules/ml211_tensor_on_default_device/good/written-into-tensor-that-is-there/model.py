import torch
from torch import nn


def mask_of(lengths):
    most = torch.max(lengths).item()
    places = torch.arange(0, most, out=torch.cuda.LongTensor(most))
    return places < lengths.unsqueeze(1)


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.register_buffer("places", torch.zeros(1))

    def forward(self, x, lengths):
        steps = torch.linspace(0, 1, x.size(1), out=x.new_empty(x.size(1)))
        room = torch.empty(0, device=x.device)
        torch.arange(x.size(1), out=room)
        ramp = torch.arange(x.size(1), out=self.places)
        return self.proj(x).masked_fill(mask_of(lengths), 0) * steps * ramp + room
