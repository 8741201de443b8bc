import torch


def fit(target, steps):
    image = torch.rand(3, 64, 64, requires_grad=True)
    image = image.to(target.device).detach().requires_grad_()  # expect: ML207
    optimizer = torch.optim.Adam([image], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        (image - target).pow(2).mean().backward()
        optimizer.step()
    return image


class Prompt:
    def __init__(self, length, width):
        self.tokens = torch.zeros(length, width, requires_grad=True)
        self.tokens = self.tokens.cuda().detach().requires_grad_()  # expect: ML207
        self.optimizer = torch.optim.AdamW([{"params": [self.tokens]}], lr=1e-3)

    def update(self, embedded, loss):
        self.optimizer.zero_grad()
        loss(torch.cat((self.tokens, embedded))).backward()
        self.optimizer.step()
