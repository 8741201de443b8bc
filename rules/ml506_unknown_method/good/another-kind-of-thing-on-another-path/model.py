import numpy as np
import torch


def run(x, is_torch):
    y = torch.zeros(3) if is_torch else np.zeros(3)
    y = y.astype("float32")
    z = torch.ones(3)
    if not is_torch:
        z = x
    return y, z.fill_up()
