from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_model, d_ff)
        self.activation = nn.ReLU()

    def forward(self, x):
        return self.w_2(self.activation(self.w_1(x)))  # expect: ML501
