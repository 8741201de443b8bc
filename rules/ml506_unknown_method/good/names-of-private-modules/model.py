import torch
from torch._tensor_str import PRINT_OPTS
from torch.nn.modules.utils import _pair


def text_of(x):
    threshold = PRINT_OPTS.threshold
    torch.set_printoptions(threshold=10_000)
    text = str(x)
    torch.set_printoptions(threshold=threshold)
    return text, _pair(3)
