# -*- coding: utf-8 -*-
from torch import nn
NAME = "Müller"
