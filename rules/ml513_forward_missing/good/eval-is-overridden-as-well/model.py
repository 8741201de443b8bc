import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = nn.Linear(4, 2)

    def forward(self, x):
        return self.policy(x)

    def train(self, states, returns):
        return (self(states) * returns).sum()

    def eval(self):
        self.policy.eval()


def play(state: torch.Tensor):
    agent = Agent()
    agent.eval()
    return agent(state)
