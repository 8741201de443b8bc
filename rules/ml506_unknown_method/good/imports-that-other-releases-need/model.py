import torch
import torch._C
import torch.utils.data._utils.collate
from torch._utils import _flatten_dense_tensors
from torch.nn.modules.utils import _pair

try:
    from torch._six import inf
except ImportError:
    from torch import inf

if torch.__version__ < "1.9":
    from torch._six import container_abcs
else:
    import collections.abc as container_abcs

TEXT = """
from torch._six import string_classes
"""


def classes():
    try:
        from torch._six import string_classes
    except ModuleNotFoundError:
        string_classes = str
    return string_classes, container_abcs, inf, _pair, _flatten_dense_tensors


def correlation(a, b):
    try:
        from torch import irfft, rfft
    except ImportError:
        from torch.fft import irfft2, rfft2

        def rfft(x, dims):
            return rfft2(x, dim=-dims)

        def irfft(x, dims):
            return irfft2(x, dim=-dims)

    return irfft(rfft(a, 1) * rfft(b, 1), 1)
