import torch
from diffusers import DDIMScheduler
from torch import nn
from torch.profiler import profile, schedule


def denoise(model: nn.Module, images, optimizer: torch.optim.Optimizer):
    scheduler = DDIMScheduler()
    for time in scheduler.timesteps:
        images = scheduler.step(model(images), time, images).prev_sample
        optimizer.zero_grad()
        images.mean().backward()
        optimizer.step()


def measure(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    with profile(schedule=schedule(wait=1, warmup=1, active=3)) as watch:
        for inputs in loader:
            watch.step()
            optimizer.zero_grad()
            model(inputs).mean().backward()
            optimizer.step()


def play(env, policy: nn.Module):
    optimizer = torch.optim.Adam(policy.parameters())
    state = env.reset()
    while True:
        state, reward, done = env.step(policy(state).argmax())
        optimizer.zero_grad()
        (policy(state).mean() * reward).backward()
        optimizer.step()
        if done:
            break
