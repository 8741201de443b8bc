import torch
from torch import nn


def play(noise, images, rounds):
    maker, judge = nn.Linear(8, 16), nn.Linear(16, 1)
    of_maker = torch.optim.Adam(maker.parameters())
    of_judge = torch.optim.Adam(judge.parameters())
    for _ in range(rounds):
        of_judge.zero_grad()
        lost = judge(maker(noise).detach()).mean() - judge(images).mean()
        lost.backward()
        of_judge.step()
        won = -judge(maker(noise)).mean()
        won.backward()
        of_maker.step()  # expect: ML705
        of_maker.zero_grad()
