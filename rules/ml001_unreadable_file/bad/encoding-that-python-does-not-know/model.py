# -*- coding: klingon -*-  # expect: ML001
from torch import nn
