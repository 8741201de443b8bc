import torch


def on_gpu_if_any(tensor):
    if not torch.cuda.is_available():
        return tensor
    return tensor.cuda()
