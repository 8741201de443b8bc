import torch


def paint(style, image, steps=100):
    canvas = torch.rand(1, 3, 64, 64, requires_grad=True)
    noise = torch.zeros(1, 3, 64, 64)
    noise.requires_grad_()
    optimizer = torch.optim.Adam([canvas, noise, image.clone()], lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        style(canvas + noise).backward()
        optimizer.step()
    return canvas
