def total(tensor, dim):
    return tensor.sum(dim)
