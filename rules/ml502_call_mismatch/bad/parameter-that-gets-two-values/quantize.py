import helpers


def quantize(x, scale, stochastic, epsilon=1e-8):
    return helpers.fake(x, scale, 4, False, True)  # expect: ML502


def forward(x, scale, bits, *rest):
    y = quantize(x, scale, bits, stochastic=False)  # expect: ML502
    return quantize(*rest, y, y, y, y, y)  # expect: ML502
