from model import Model


def build():
    model = Model(3)
    for part in model.children():
        part.shift = 1.0
    model.part.extra = model.part.proj
    return model.part.extra
