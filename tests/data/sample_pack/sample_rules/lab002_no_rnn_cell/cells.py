"""Layers that take one step of a sequence."""

CELLS = ("torch.nn.RNNCell", "torch.nn.LSTMCell", "torch.nn.GRUCell")
