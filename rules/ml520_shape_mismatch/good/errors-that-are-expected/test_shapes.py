import unittest

import pytest
import torch
from torch import nn


def test_broadcasting():
    with pytest.raises(RuntimeError):
        torch.zeros(3) + torch.zeros(4)
    with pytest.raises(RuntimeError, match="size"):
        nn.BatchNorm2d(4)(torch.zeros(2, 3, 5, 5))
    with pytest.raises((RuntimeError, ValueError)):
        torch.zeros(2, 3).view(4)


class TestShapes(unittest.TestCase):
    def test_matrices(self):
        with self.assertRaises(RuntimeError):
            torch.zeros(2, 3) @ torch.zeros(2, 3)
        with self.assertRaisesRegex(IndexError, "range"):
            torch.zeros(2, 3).sum(2)
