import importlib


def load_object(name):
    module, cls = name.rsplit(".", 1)
    return getattr(importlib.import_module(module), cls)


def build(config, **more):
    return load_object(config["target"])(**config.get("params", {}), **more)
