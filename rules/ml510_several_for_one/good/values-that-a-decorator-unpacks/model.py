import kernels
import torch


def product_real(a, b):
    first, second = kernels.product(a, b)

    def gradient(da, db):
        return da, db

    return (first, second, torch.add(first, second)), gradient


def product(a, b):
    @kernels.custom_gradient
    def compute(a, b):
        return product_real(a, b)

    first, second, third = compute(a, b)
    return first.relu(), second.numpy(), third.sum()
