from torch import nn


class Encoder(nn.Module):
    else:  # expect: ML001
        pass
