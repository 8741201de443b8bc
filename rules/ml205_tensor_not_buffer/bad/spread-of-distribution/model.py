import torch
from torch import nn
from torch.distributions import MultivariateNormal, Normal


class Walker(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.actor = nn.Linear(states, actions)
        self.spread = torch.full((actions,), 0.5)  # expect: ML205

    def forward(self, state):
        return Normal(self.actor(state), self.spread).sample()


class Runner(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.actor = nn.Linear(states, actions)
        self.variance = torch.full((actions,), 0.25)  # expect: ML205

    def act(self, state):
        likely = MultivariateNormal(self.actor(state), covariance_matrix=torch.diag(self.variance).unsqueeze(0))
        action = likely.sample()
        return action, likely.log_prob(action)


class Agent:
    def __init__(self, states, actions, device):
        self.policy = Runner(states, actions).to(device)
        self.device = device

    def select(self, state):
        return self.policy.act(torch.as_tensor(state, device=self.device))
