def attend(layer, x):
    return layer.proj(x)
