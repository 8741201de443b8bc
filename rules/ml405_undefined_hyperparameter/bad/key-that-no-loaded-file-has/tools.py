import importlib


def load_name(name):
    module, cls = name.rsplit(".", 1)
    return getattr(importlib.import_module(module), cls)


def build(config):
    return load_name(config["target"])(**config.get("params", {}))
