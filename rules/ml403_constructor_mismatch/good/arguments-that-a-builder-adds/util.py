import importlib


def load_object(name):
    module, cls = name.rsplit(".", 1)
    return getattr(importlib.import_module(module), cls)


def build_dataset(config, transform):
    return load_object(config["target"])(transform=transform, **config.get("params", {}))


def build_optimizer(cfg, parameters):
    params = cfg.get("params", dict())
    return load_object(cfg["target"])(parameters, **params)
