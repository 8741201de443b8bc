import torch


def fit(target, steps):
    start = torch.rand(3, 64, 64).to(target.device)
    image = start.requires_grad_()
    optimizer = torch.optim.Adam([image], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        (image - target).pow(2).mean().backward()
        optimizer.step()
    image = image.to("cpu")
    return image


def there(target, device):
    image = torch.rand(3, 64, 64, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([image], lr=0.05)
    image = image.to(device)
    (image - target).pow(2).mean().backward()
    optimizer.step()
    return image


def again(target):
    image = torch.rand(3, 64, 64, requires_grad=True)
    optimizer = torch.optim.SGD([image], lr=0.05)
    image = image.cuda().detach().requires_grad_()
    optimizer = torch.optim.SGD([image], lr=0.05)
    (image - target).pow(2).mean().backward()
    optimizer.step()
    return image


class Prompt:
    def __init__(self, length, width):
        self.tokens = torch.zeros(length, width, requires_grad=True)
        self.optimizer = torch.optim.AdamW([self.tokens], lr=1e-3)

    def update(self, embedded, loss):
        tokens = self.tokens.to(embedded.device)
        self.optimizer.zero_grad()
        loss(torch.cat((tokens, embedded))).backward()
        self.optimizer.step()

    def saved(self):
        return self.tokens.detach().cpu()
