from jaxtyping import Float
from torch import Tensor


def add(left: Float[Tensor, "batch width"], right: Float[Tensor, "batch height"]):
    return left + right


def rearrange(x: Float[Tensor, "batch width length"]):
    return x.permute(0, 2, 1, 3)


def ones(left: Float[Tensor, "batch 1"], right: Float[Tensor, "batch 5"], scale: Float[Tensor, "#4 5"]):
    return (left + right) * scale


def sides(left: Float[Tensor, "... 4"], right: Float[Tensor, "5 ... 4"]):
    return left + right
