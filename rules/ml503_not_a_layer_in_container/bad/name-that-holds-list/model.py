from torch.nn import Linear, ReLU, Sequential


def build(width, depth, is_deep):
    layers = [Linear(width, width)]
    for _ in range(depth):
        layers.append(ReLU())
    if is_deep:
        layers += [Linear(width, width)]
    return Sequential(layers)  # expect: ML503
