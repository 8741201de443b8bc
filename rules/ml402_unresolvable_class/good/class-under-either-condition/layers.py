try:
    from fast_layers import Encoder
except ImportError:
    from torch.nn import Linear

    class Encoder(Linear):
        pass
