"""Names of torch, builtins and pretrained models, grouped by the effect of calling them."""

from __future__ import annotations

import re
import sys

from modellint import operators

MODULE = "torch.nn.Module"
#: Containers that register the layers passed to their constructor, and the parameter that takes them.
CONTAINERS = {name: argument for name, (_, argument) in operators.arguments("holds").items()}
TENSOR_CLASSES = operators.functions("trained", "kept")
#: Methods of a layer that return the layer itself.
SAME = operators.methods("Module", "itself")
_VIEWS = operators.methods("dict", "contents") | operators.methods("Module", "contents") | {"keys"}
#: Methods whose result comes from their receiver, so that it can be followed.
FOLLOWED = SAME | _VIEWS | {"items", "get", "pop", "from_pretrained", "from_config"}
PRETRAINED = re.compile(
    r"transformers\.(?:.*\.)?(?:AutoModel\w*|\w+Model|\w+For[A-Z]\w+)(?:\.(?:from_pretrained|from_config|_from_config))?$"
)
WRAPPERS = operators.functions("wraps", "builds")
#: Methods that add elements to a container; those of a deque at either end.
ADDERS = frozenset(("appendleft", "extendleft")).union(
    *(operators.methods(kind, "adds", "extends") for kind in ("list", "set", "dict"))
)
#: Methods that register a child, parameter or buffer of a module.
REGISTRARS = operators.methods("Module", "registers")
COPIES = operators.functions("copies")
SEQUENCES = operators.functions("contents", "element")
#: Attributes of tensors.
PLAIN_ATTRIBUTES = {"__name__"} | operators.attributes(
    "Tensor", "gives:size", "gives:device", "gives:dtype", "gives:int"
)


def is_standard(top: str) -> bool:
    """True for a top-level module of the standard library."""
    return top in sys.stdlib_module_names


def is_torch_class(name: str) -> bool:
    """True if a name of torch that the facts do not describe may be a layer class."""
    last = name.rpartition(".")[2]
    return last[:1].isupper() and not name.startswith(NON_LAYERS) and name.count(".") > 1


#: Parts of torch whose classes are no layers.
NON_LAYERS = (
    "torch.Tensor",
    "torch.autograd.",
    "torch.cuda.",
    "torch.distributions.",
    "torch.optim.",
    "torch.utils.data.",
)
