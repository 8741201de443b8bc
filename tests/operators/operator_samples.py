"""How each operator of the table is called in the tests: on what, and with which arguments behind it."""

from __future__ import annotations

import copy
import importlib
import inspect
from collections import deque
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modellint import operators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.operators import Operator


def numbers() -> torch.Tensor:
    return torch.tensor([[5.0, 1.0, 4.0], [2.0, 9.0, 3.0]])


def rows_of(*ids: int) -> torch.Tensor:
    return torch.tensor(ids)


#: What follows the operand, where anything has to. Values are those of `numbers`, or are not among them (7).
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "index_select": (1, rows_of(0, 2)), "gather": (1, torch.tensor([[0], [2]])), "take": (rows_of(0, 5),),
    "take_along_dim": (torch.tensor([[0], [2]]), 1),
    "reshape": ((3, 2),), "view": (3, 2), "repeat_interleave": (2,), "tile": ((2, 2),), "broadcast_to": ((2, 2, 3),),
    "expand": (2, 2, 3), "repeat": (2, 2), "unsqueeze": (0,), "unflatten": (1, (3, 1)), "narrow": (1, 0, 2),
    "select": (1, 0), "transpose": (0, 1), "swapaxes": (0, 1), "swapdims": (0, 1), "permute": ((1, 0),),
    "movedim": (0, 1), "moveaxis": (0, 1), "flip": ((0,),), "roll": (1,), "split": (1,), "chunk": (2,),
    "tensor_split": (2,), "hsplit": (3,), "vsplit": (2,), "masked_select": (numbers() > 2,), "topk": (2,),
    "kthvalue": (1,), "multinomial": (2,), "clamp": (2, 4), "clip": (2, 4), "clamp_max": (4,), "clamp_min": (2,),
    "minimum": (torch.tensor(4.0),), "maximum": (torch.tensor(2.0),), "fmin": (torch.tensor(4.0),),
    "fmax": (torch.tensor(2.0),), "remainder": (torch.tensor(4.0),), "fmod": (torch.tensor(4.0),),
    "masked_fill": (numbers() > 4, 7),
    "index_fill": (1, rows_of(1), 7), "fill": (7,), "isin": (torch.tensor([1.0, 9.0]),), "cumsum": (1,),
    "softmax": (-1,), "log_softmax": (-1,), "argsort": (), "matmul": (torch.ones(3, 2),), "mm": (torch.ones(3, 2),),
    "view_as": (torch.ones(3, 2),), "reshape_as": (torch.ones(3, 2),), "expand_as": (torch.ones(2, 2, 3),),
    "unfold": (1, 2, 1), "to": (torch.float64,), "type": (torch.float64,), "type_as": (torch.ones(1).double(),),
    "requires_grad_": (False,), "new_zeros": (2, 3), "new_ones": (2, 3), "new_empty": (2, 3), "new_full": ((2, 3), 7),
    "new_tensor": ([1.0],), "copy_": (torch.zeros(2, 3),), "index_put_": ((rows_of(0),), torch.tensor(7.0)),
    "masked_scatter_": (numbers() > 4, torch.zeros(6)), "scatter_": (1, torch.tensor([[0], [2]]), 7.0),
    "index_add_": (1, rows_of(0), torch.ones(2, 1)), "index_copy_": (1, rows_of(0), torch.ones(2, 1)),
    "where": (numbers() > 3, torch.full((2, 3), 7.0)), "normalize": (), "gumbel_softmax": (), "full_like": (7,),
    "randint_like": (3,), "outer": (torch.tensor([1.0, 2.0]),), "cdist": (torch.ones(2, 3),),
    **dict.fromkeys(("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide",
                     "pow", "lt", "less", "le", "less_equal", "gt", "greater", "ge", "greater_equal", "eq", "ne",
                     "not_equal"), (torch.tensor([4.0, 1.0, 2.0]),)),
    **dict.fromkeys(("logical_and", "bitwise_and"), (torch.tensor([True, False, True]),)),
    "layer_norm": ((3,),), "rms_norm": ((3,),), "batch_norm": (torch.zeros(3), torch.ones(3)),
    "linear": (torch.ones(2, 3),),
    "prelu": (torch.ones(1),), "pad": ((1, 1), "constant", 7), "group_norm": (1,), "one_hot": (10,),
    "bilinear": (torch.ones(2, 3), torch.ones(4, 3, 3)), "embedding": (torch.ones(10, 3),),
    "embedding_bag": (torch.ones(10, 3),), "scaled_dot_product_attention": (torch.ones(2, 3), torch.ones(2, 3)),
    "conv1d": (torch.ones(4, 3, 1),), "conv2d": (torch.ones(4, 3, 1, 1),), "conv3d": (torch.ones(4, 3, 1, 1, 1),),
    "conv_transpose1d": (torch.ones(3, 4, 1),), "conv_transpose2d": (torch.ones(3, 4, 1, 1),),
    "conv_transpose3d": (torch.ones(3, 4, 1, 1, 1),), "interpolate": ((4, 4),), "constant_": (7,),
    "pad_sequence": (True, 7),
    "lerp": (torch.ones(2, 3), torch.ones(2, 3)), "addcmul": (torch.ones(2, 3), torch.ones(2, 3)),
    "addcdiv": (torch.ones(2, 3), torch.ones(2, 3)), "addmm": (torch.ones(2, 4), torch.ones(4, 3)),
    **dict.fromkeys(("atan2", "hypot", "complex", "polar", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
                     "kl_div", "cosine_similarity", "pairwise_distance", "binary_cross_entropy_with_logits"),
                    (torch.ones(2, 3),)),
    **dict.fromkeys(("logical_or", "logical_xor", "bitwise_or", "bitwise_xor"), (torch.tensor([True, False, True]),)),
    "binary_cross_entropy": (torch.ones(2, 3),),
    **dict.fromkeys(("cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss"), (rows_of(0, 2),)),
    "grid_sample": (torch.zeros(2, 4, 4, 2), "bilinear", "zeros", False), "bucketize": (torch.tensor([1.0, 3.0]),),
    **dict.fromkeys(("scatter", "scatter_add"), (1, torch.tensor([[0], [2]]), torch.ones(2, 1))),
    **dict.fromkeys(("index_add", "index_copy"), (1, rows_of(0), torch.ones(2, 1))),
    "masked_scatter": (numbers() > 4, torch.zeros(6)),
    "scatter_reduce": (1, torch.tensor([[0], [2]]), torch.ones(2, 1), "sum"),
    "index_reduce": (1, rows_of(0), torch.full((2, 1), 3.0), "prod"), "put": (rows_of(0, 5), torch.tensor([7.0, 7.0])),
    **dict.fromkeys(("arctan2", "copysign", "float_power", "heaviside", "xlogy", "ldexp", "igamma", "igammac",
                     "nextafter", "logaddexp", "logaddexp2", "cross", "isclose", "dist", "inner", "kron", "allclose",
                     "equal", "tensordot", "cumulative_trapezoid", "trapezoid", "trapz", "soft_margin_loss",
                     "hinge_embedding_loss", "poisson_nll_loss", "multilabel_soft_margin_loss"),
                    (torch.ones(2, 3),)),
    **dict.fromkeys(("gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift", "multilabel_margin_loss"),
                    (torch.ones(2, 3, dtype=torch.long),)),
    "addr": (torch.ones(2), torch.ones(3)), "baddbmm": (torch.ones(2, 2, 4), torch.ones(2, 4, 3)),
    "addbmm": (torch.ones(2, 2, 4), torch.ones(2, 4, 3)), "addmv": (torch.ones(3, 3), torch.ones(3)),
    "mv": (torch.ones(3),), "dot": (torch.ones(3),), "vdot": (torch.ones(3),), "ger": (torch.tensor([1.0, 2.0]),),
    "cholesky_solve": (torch.eye(2),), "lu_solve": (torch.eye(2), torch.tensor([1, 2], dtype=torch.int32)),
    "orgqr": (torch.ones(2),), "quantile": (torch.tensor([0.5, 0.5]),), "nanquantile": (torch.tensor([0.5, 0.5]),),
    "cumprod": (1,), "logcumsumexp": (1,), "logsumexp": (-1,), "searchsorted": (numbers(),),
    "conv_tbc": (torch.ones(1, 3, 4), torch.ones(4)), "cartesian_prod": (torch.ones(2),),
    "block_diag": (torch.ones(2, 3),), "chain_matmul": (torch.ones(3, 2),), "threshold": (2.0, 0.0),
    "margin_ranking_loss": (torch.ones(2, 3), torch.ones(2, 3)), "gaussian_nll_loss": (torch.ones(2, 3),
                                                                                       torch.ones(2, 3)),
    "cosine_embedding_loss": (torch.ones(2, 3), torch.ones(2)), "multi_margin_loss": (rows_of(0, 2),),
    **dict.fromkeys(("triplet_margin_loss", "triplet_margin_with_distance_loss"), (torch.ones(2, 3),) * 2),
    "affine_grid": ((2, 1, 4, 4), False), "channel_shuffle": (2,), "pixel_shuffle": (2,), "pixel_unshuffle": (2,),
    **{f"{kind}_pool{n}d": (2,) for kind in ("avg", "adaptive_avg", "max") for n in (1, 2, 3)},
    "lp_pool1d": (2.0, 2), "lp_pool2d": (2.0, 2),
    "stft": (4, 2, 4, torch.ones(4), True, "reflect", False, True, True),
    "istft": (4, 2, 4, torch.ones(4)),
}  # fmt: skip

_BOOLEAN = ("logical_not", "logical_and", "logical_or", "logical_xor", "bitwise_not", "bitwise_and", "bitwise_or",
            "bitwise_xor")  # fmt: skip
_SHAPED = {"conv1d": 1, "conv_transpose1d": 1, "instance_norm": 1, "dropout1d": 1, "dropout2d": 2, "dropout3d": 3,
           "conv2d": 2, "conv_transpose2d": 2, "conv3d": 3, "conv_transpose3d": 3, "interpolate": 2}  # fmt: skip
#: What is no tensor, or is called without one: the operand itself.
OPERANDS: dict[str, Callable[[], Any]] = {
    **{name: lambda: torch.ones(2, 3).bool() for name in _BOOLEAN},
    **{name: (lambda n=n: torch.rand(2, 3, *([4] * n))) for name, n in _SHAPED.items()},
    **{name: lambda: torch.tensor([0.5, 0.25]) for name in ("outer",)},
    **{name: lambda: torch.tensor([[3, 1], [0, 2]]) for name in ("one_hot", "embedding", "embedding_bag")},
    **{name: lambda: [numbers(), numbers() + 20]
       for name in ("stack", "cat", "concat", "concatenate", "hstack", "vstack", "dstack")},
    "binary_cross_entropy": lambda: numbers() / 10,
    "grid_sample": lambda: torch.rand(2, 3, 4, 4),
    "stft": lambda: torch.rand(16),
    "istft": lambda: torch.ones(3, 9, dtype=torch.complex64),
    "bmm": lambda: torch.ones(1, 2, 3),
    "glu": lambda: torch.rand(2, 4),
    **{name: (lambda n=n: torch.rand(1, 4, *([4] * n))) for n in (1, 2, 3)
       for name in (f"avg_pool{n}d", f"adaptive_avg_pool{n}d", f"max_pool{n}d", f"lp_pool{n}d")},
    **{name: lambda: torch.rand(1, 4, 2, 2) for name in ("pixel_shuffle", "pixel_unshuffle", "channel_shuffle")},
    **{name: lambda: torch.ones(2, 3, dtype=torch.long) for name in ("gcd", "lcm", "bitwise_left_shift",
                                                                      "bitwise_right_shift")},
    **{name: lambda: torch.rand(3) for name in ("dot", "vdot", "ger", "addmv", "cartesian_prod")},
    **{name: lambda: torch.eye(3) + 1 for name in ("inverse", "matrix_exp", "det", "logdet", "trace")},
    **{name: lambda: torch.ones(2, 2) for name in ("cholesky_solve", "lu_solve", "orgqr")},
    **{name: lambda: numbers() / 10 for name in ("acos", "arccos", "asin", "arcsin", "atanh", "arctanh", "erfinv",
                                                 "logit")},
    "addbmm": lambda: torch.ones(2, 3), "baddbmm": lambda: torch.ones(2, 2, 3),
    "searchsorted": lambda: torch.tensor([1.0, 3.0, 5.0]),
    "conv_tbc": lambda: torch.rand(5, 2, 3), "affine_grid": lambda: torch.rand(2, 2, 3),
    "bilinear": lambda: numbers(),
    **{name: lambda: [numbers(), numbers() + 20] for name in ("column_stack", "row_stack")},
    "squeeze": lambda: numbers()[None],
    "flatten": lambda: numbers(),
    **{name: lambda: numbers() / 10 for name in ("multinomial",)},
    "item": lambda: torch.tensor([5.0]),
    "imag": lambda: torch.complex(numbers(), numbers()),
    "pad_sequence": lambda: [numbers(), numbers()[:1]],
    **{name: lambda: numbers()[:, :2].clone() for name in ("bernoulli_",)},
}  # fmt: skip
ARGUMENTS["bmm"] = (torch.ones(1, 3, 2),)
ARGUMENTS["TransformerDecoderLayer"] = (torch.ones(5, 2, 4),)

#: Functions that make a tensor without one, and the like: all of their arguments.
CALLS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("rand", "randn", "zeros", "ones", "empty"), (2, 3)),
    "full": ((2, 3), 7), "arange": (5,), "range": (0, 4), "linspace": (0, 1, 5), "logspace": (0, 1, 5), "eye": (3,),
    "randint": (5, (2,)), "randperm": (5,), "tril_indices": (3, 3), "triu_indices": (3, 3), "normal": (0.0,
    1.0, (2, 3)),
    **{f"{name}_window": (5,) for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")},
    "tensor": ([7, 8],), "as_tensor": ([7, 8],),
    **dict.fromkeys(("Normal", "LogNormal", "Beta"), (torch.ones(3), torch.ones(3))),
    "Uniform": (torch.zeros(3), torch.ones(3)), "MultivariateNormal": (torch.zeros(3), torch.eye(3)),
    **dict.fromkeys(("Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "LongTensor", "IntTensor"), ([7, 8],)),
    "BoolTensor": ([True, False],), "set_grad_enabled": (False,),
    "einsum": ("ij,kj->ik", torch.ones(2, 3), torch.ones(4, 3)),
    "meshgrid": (torch.ones(2), torch.ones(3)), "broadcast_tensors": (torch.ones(2, 1), torch.ones(3)),
}  # fmt: skip

#: What layers are made with; those not named here take nothing.
LAYERS: dict[str, tuple[Any, ...]] = {
    "Softmax": (-1,), "LogSoftmax": (-1,), "Softmin": (-1,), "LayerNorm": (3,), "RMSNorm": (3,), "Linear": (3,
    5), "Conv1d": (3, 5, 1), "Conv2d": (3, 5, 1), "Conv3d": (3, 5, 1),
    "RNN": (3, 5), "LSTM": (3, 5), "GRU": (3, 5), "Embedding": (10, 3), "EmbeddingBag": (10, 3),
    "Unflatten": (1, (3, 1)), "ChannelShuffle": (2,), "PixelShuffle": (2,), "PixelUnshuffle": (2,),
    "BatchNorm1d": (3,), "BatchNorm2d": (3,), "BatchNorm3d": (3,), "SyncBatchNorm": (3,),
    "TransformerEncoderLayer": (4, 2), "TransformerDecoderLayer": (4, 2),
}  # fmt: skip
INPUTS: dict[str, Callable[[], torch.Tensor]] = {
    "Embedding": lambda: torch.tensor([[0, 9]]), "EmbeddingBag": lambda: torch.tensor([[0, 9]]),
    "Conv1d": lambda: torch.rand(2, 3, 4), "Conv2d": lambda: torch.rand(2, 3, 4, 4),
    "Conv3d": lambda: torch.rand(2, 3, 4, 4, 4), "ChannelShuffle": lambda: torch.rand(1, 4, 2, 2),
    "PixelShuffle": lambda: torch.rand(1, 4, 2, 2), "PixelUnshuffle": lambda: torch.rand(1, 4, 2, 2),
    "Dropout1d": lambda: torch.rand(2, 3, 4), "Dropout2d": lambda: torch.rand(2, 3, 4, 4),
    "Dropout3d": lambda: torch.rand(2, 3, 4, 4, 4), "Softmax": numbers,
    "FeatureAlphaDropout": lambda: torch.rand(2, 3, 4),
    "BatchNorm1d": lambda: torch.rand(4, 3), "BatchNorm2d": lambda: torch.rand(2, 3, 4, 4),
    "BatchNorm3d": lambda: torch.rand(2, 3, 4, 4, 4), "SyncBatchNorm": lambda: torch.rand(4, 3),
    "TransformerEncoderLayer": lambda: torch.rand(5, 2, 4), "TransformerDecoderLayer": lambda: torch.rand(5, 2, 4),
}  # fmt: skip

#: Objects whose methods are in the table, and what each method is given.
OWNERS: dict[str, Callable[[], Any]] = {
    "list": lambda: [3, 1], "deque": lambda: deque([3, 1]), "set": lambda: {3, 1}, "dict": lambda: {"a": 3, "b": 1},
    "Module": lambda: a_module(),
    "ModuleList": lambda: nn.ModuleList([nn.ReLU()]), "Sequential": lambda: nn.Sequential(nn.ReLU()),
    "ModuleDict": lambda: nn.ModuleDict({"a": nn.ReLU()}),
    "ParameterList": lambda: nn.ParameterList([nn.Parameter(torch.ones(1))]),
    "ParameterDict": lambda: nn.ParameterDict({"a": nn.Parameter(torch.ones(1))}),
    "Categorical": lambda: torch.distributions.Categorical(probs=torch.ones(4)),
}  # fmt: skip
LAYER, WEIGHT = nn.Tanh(), nn.Parameter(torch.zeros(1))
NEW: dict[str, Any] = {"list": 7, "deque": 7, "set": 7, "dict": 7, "ParameterList": WEIGHT, "ParameterDict": WEIGHT}
GIVEN: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "append": lambda new: (new,), "appendleft": lambda new: (new,), "add": lambda new: (new,),
    "insert": lambda new: (0, new), "extend": lambda new: ([new],), "extendleft": lambda new: ([new],),
    "setdefault": lambda new: ("new", new), "index": lambda new: (3,), "count": lambda new: (3,),
    "remove": lambda new: (3,), "discard": lambda new: (3,), "get": lambda new: ("a",),
}  # fmt: skip
MODULE_GIVEN: dict[str, tuple[Any, ...]] = {
    "to": (torch.float64,), "type": (torch.float64,), "apply": (lambda module: None,), "add_module": ("new", LAYER),
    "register_module": ("new", LAYER), "register_parameter": ("new", WEIGHT),
    "register_buffer": ("new", torch.zeros(1)), "get_submodule": ("0",), "get_parameter": ("0.weight",),
    "get_buffer": ("there",),
    "load_state_dict": ({},), "set_submodule": ("0", LAYER),
}  # fmt: skip


def resolve(name: str) -> Any:
    """What a full name stands for. Raises AttributeError or ImportError where there is no such thing."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ImportError(name)


def a_module() -> nn.Module:
    module = nn.Sequential(nn.Linear(2, 2))
    module.register_buffer("there", torch.ones(1))
    return module


def owner_class(name: str) -> type:
    known = {"Tensor": torch.Tensor, "Module": nn.Module, "Categorical": torch.distributions.Categorical}
    builtin = {"list": list, "deque": deque, "set": set, "dict": dict}
    return known.get(name) or builtin.get(name) or getattr(nn, name)


class Trial:
    """One call of an operator: its operand as it was before and is now, its arguments, and what it gave."""

    def __init__(
        self, row: Operator, kind: str, of: str, *, device: str = "cpu", keyword: str = "", runs: bool = True
    ) -> None:
        self.row, self.kind, self.of = row, kind, of
        self.short = row.name.rpartition(".")[2]
        self.operand, self.args = self._given()
        if device != "cpu":
            self.operand, self.args = _on(self.operand, device), _on(self.args, device)
        self.before: Any = None
        self.result: Any = None
        if runs:
            self.before = copy.deepcopy(self.operand) if self.short != "next" else None
            self.result = self.again(self.operand, self.args, keyword)

    def _given(self) -> tuple[Any, tuple[Any, ...]]:
        if self.of == "Module":
            return OWNERS[self.of](), MODULE_GIVEN.get(self.short, _hook(self.short))
        if self.of in OWNERS:
            return OWNERS[self.of](), self._given_to_container()
        if self.row.name in OTHERS:
            return OTHERS[self.row.name]
        if self.of.startswith("torch.nn") and self.kind == "classes" and self.short not in ("Parameter", "Buffer"):
            return INPUTS.get(self.short, numbers)(), ARGUMENTS.get(self.short, ())
        if self.kind in ("functions", "classes") and self.short in CALLS:
            return CALLS[self.short][0], CALLS[self.short][1:]
        base = self.short if self.short in ARGUMENTS else self.short.rstrip("_")
        return OPERANDS.get(base, numbers)(), ARGUMENTS.get(base, ())

    def _given_to_container(self) -> tuple[Any, ...]:
        new, is_mapping = NEW.get(self.of, LAYER), self.of.lower().endswith("dict")
        if self.short == "update":
            return ({"new": new},) if is_mapping else ([new],)
        if self.short == "pop":
            return ("a",) if is_mapping else () if self.of in ("list", "deque", "set") else (0,)
        return GIVEN.get(self.short, lambda new: ())(new)

    def again(self, operand: Any, args: tuple[Any, ...], keyword: str = "", **names: Any) -> Any:
        """The operator on another operand, with other arguments; `keyword` is a facet whose argument goes by name."""
        torch.manual_seed(0)
        keywords = {"device": "cpu"} if self.short == "to_empty" else names
        if keyword:
            position, name = self.row.argument(keyword) or (0, "")
            if position == 0:
                names = inspect.signature(resolve(self.row.name)).parameters
                return resolve(self.row.name)(**dict(zip(names, (operand, *args), strict=False)))
            # What lies between is left out, or goes by its name, too.
            before = "min" if keyword == "limit" and position == 2 else None
            keywords = {name: args[position - 1]} | ({before: args[0]} if before else {})
            after = {"max": args[1]} if keyword == "lift" and len(args) == 2 else {}
            args, keywords = args[: 0 if before else position - 1], keywords | after
        if self.kind == "attributes":
            return getattr(operand, self.short)
        if self.kind == "methods":
            return getattr(operand, self.short)(*args, **keywords)
        function = resolve(self.row.name)
        if self.kind == "classes" and self.of == "torch.nn" and self.short not in ("Parameter", "Buffer"):
            return function(*LAYERS.get(self.short, ())).eval()(operand, *args)
        if self.short == "where":
            return function(args[0], operand, *args[1:])
        return function(operand, *args, **keywords)

    @property
    def tensor(self) -> torch.Tensor:
        """The result, or its first part."""
        return self.result if isinstance(self.result, torch.Tensor) else self.result[0]


def _hook(name: str) -> tuple[Any, ...]:
    return (lambda *given: None,) if "hook" in name else ()


def _on(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    return type(value)(_on(part, device) for part in value) if type(value) in (list, tuple) else value


OTHERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    **{f"builtins.{name}": ([3, 1], ()) for name in
       ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "enumerate", "zip", "sum", "any", "all",
        "max", "min", "len", "id", "type", "bool", "print")},
    "builtins.range": (5, ()),
    "builtins.next": (iter([3, 1]), ()), "builtins.dict": ({"a": 3}, ()),
    **{f"builtins.{name}": (2.5, ()) for name in ("int", "round", "float", "abs")},
    "builtins.isinstance": (3, (int,)), "builtins.issubclass": (bool, (int,)), "builtins.hasattr": (3, ("real",)),
    "builtins.getattr": (3, ("real",)), "builtins.super": (bool, (True,)),
    **{f"math.{name}": (2.5, ()) for name in ("floor", "ceil", "trunc")},
    **{f"math.{name}": (4, ()) for name in ("sqrt", "isqrt")},
    "copy.copy": ([3, 1], ()), "copy.deepcopy": ([3, 1], ()),
}  # fmt: skip


def places() -> Iterator[tuple[Operator, str, str]]:
    """Each row with its kind (a function, a method, …) and where it is found."""
    for row in operators.rows():
        of, _, short = row.name.rpartition(".")
        is_row_of = {kind: short in view for kind, view in (("methods", operators.methods(of)),
                                                            ("attributes", operators.attributes(of)))}  # fmt: skip
        kind = next((kind for kind, found in is_row_of.items() if found), None)
        yield row, kind or ("classes" if short[:1].isupper() else "functions"), of
