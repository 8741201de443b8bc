import importlib
import sys


def load_backend(name):
    module = importlib.import_module(f".{name}", __name__)
    package = sys.modules[__name__]
    for key in module.__dict__:
        if not key.startswith("__"):
            setattr(package, key, module.__dict__[key])


load_backend("fast")
