import backend as torch
from backend import cat


class Frame:
    def view(self, rows, columns, title=None):
        return rows, columns, title


def show(x):
    frame = Frame()
    return torch.exp(x, 2), cat(x, x), frame.view(1, 2, title="frame")
