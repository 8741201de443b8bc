from torch import nn
PATTERN = "\d+"
