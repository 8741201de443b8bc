from hyperpyyaml import load_hyperpyyaml


def read(path, overrides):
    with open(path) as fin:
        return load_hyperpyyaml(fin, overrides)
