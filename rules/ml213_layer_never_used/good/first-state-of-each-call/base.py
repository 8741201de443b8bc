from torch import nn


class Captioner(nn.Module):
    def init_hidden_states(self, features):
        raise NotImplementedError

    def forward(self, features):
        hidden, cell = self.init_hidden_states(features)
        return hidden * cell
