from torch import nn


class Attention(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.width, self.rows = width, rows
        self.conv = nn.Conv1d(width, width, 3)
        self.keys = None

    def set_conv(self, conv):
        self.conv = conv

    def reset(self):
        self.keys = None

    def forward(self, memory, query):
        length = self.rows * self.conv.stride[0]
        if memory.size(-1) != length:
            raise ValueError(f"expected a length of {length}, not {memory.size(-1)}")
        if self.keys is None:
            self.keys = nn.Linear(self.width, self.width)(memory)  # expect: ML206
        return nn.Linear(self.width, self.width)(query) @ self.keys  # expect: ML206
