import torch


class Stack(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        layers = ()
        layers += (torch.nn.Linear(width, width), torch.nn.Linear(width, width))
        self.layers = torch.nn.ModuleList(layers)  # expect: ML204

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
