import torch


def fit(target, steps):
    image = torch.rand(3, 64, 64, requires_grad=True)
    optimizer = torch.optim.Adam([image], lr=0.05)
    first = image.to(target.device)
    for _ in range(steps):
        optimizer.zero_grad()
        moved = image.to(target.device)
        ((moved - target).pow(2).mean() + (moved - first).abs().mean()).backward()
        optimizer.step()
    return image


def watched(target, steps, show):
    image = torch.rand(3, 64, 64, device=target.device, requires_grad=True)
    optimizer = torch.optim.LBFGS([image])

    def loss():
        optimizer.zero_grad()
        found = (image - target).pow(2).mean()
        found.backward()
        return found

    for _ in range(steps):
        optimizer.step(loss)
        show(image.detach().cpu())
    image = image.cpu()
    for channel in range(3):
        show(image[channel])
    return image


def grouped(tensors, device, loss):
    scale = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD(tensors, lr=0.1)
    scale = scale.to(device).detach().requires_grad_()
    optimizer.add_param_group({"params": [scale]})
    for _ in range(10):
        optimizer.zero_grad()
        loss(scale).backward()
        optimizer.step()
    return scale
