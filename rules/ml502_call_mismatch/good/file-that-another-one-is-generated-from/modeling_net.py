# Automatically generated from modular_net.py.
class Net:
    pass
