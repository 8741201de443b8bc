from jaxtyping import Float, Int
from torch import Tensor


def add(left: Float[Tensor, "batch 4"], right: Float[Tensor, "batch 5"]):
    return left + right  # expect: ML520


def rearrange(x: Float[Tensor, "batch 64 length"], ids: Int[Tensor, "batch 3"]):
    x = x.permute(0, 2, 1, 3)  # expect: ML520
    return x, ids.unsqueeze(3)  # expect: ML520
