from torch import nn


class Late(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])  # expect: ML204
        self.heads = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])  # expect: ML204

    def show(self):
        for head in self.heads:
            print(head.in_features)

    def forward(self, x):
        for number, block in enumerate(self.blocks):
            self.add_module(f"block_{number}", block)
            x = block(x)
        return sum(head(x) for head in self.heads)
