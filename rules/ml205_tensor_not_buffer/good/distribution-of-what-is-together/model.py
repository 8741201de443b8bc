import torch
from torch import nn
from torch.distributions import MultivariateNormal, Normal, Uniform


class Walker(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.actor = nn.Linear(states, actions)
        self.log_spread = nn.Parameter(torch.zeros(actions))
        self.register_buffer("variance", torch.full((actions,), 0.25))
        self.low, self.high = torch.zeros(actions), torch.ones(actions)
        self.start = torch.zeros(actions)
        self.fixed = 0.1

    def forward(self, state):
        mean = self.actor(state)
        near = Normal(mean, self.log_spread.exp()).sample() + Normal(mean, self.fixed).sample()
        far = MultivariateNormal(mean, torch.diag(self.variance)).sample()
        first = Normal(self.start.to(mean.device), torch.ones_like(mean)).sample()
        return near + far + first + Uniform(self.low, self.high).sample().to(mean.device)
