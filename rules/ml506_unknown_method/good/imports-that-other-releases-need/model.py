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
