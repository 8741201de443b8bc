# -*- coding: ascii -*-
from torch import nn
NAME = "Müller"  # expect: ML001
