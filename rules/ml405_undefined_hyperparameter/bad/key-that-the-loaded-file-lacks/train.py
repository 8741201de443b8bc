import torch
from omegaconf import OmegaConf

from tools import build


def main():
    config = OmegaConf.load("configs/small.yaml")
    run = OmegaConf.load("configs/run.yaml")
    torch.manual_seed(config.sed)  # expect: ML405
    model = build(config.model)
    both = OmegaConf.merge(run, config)
    optimizer = torch.optim.SGD(model.parameters(), lr=both.optimizer.lr)  # expect: ML405
    for _ in range(both.steps):
        optimizer.zero_grad()
        model(torch.zeros(1, config.model.params.widths)).sum().backward()  # expect: ML405
        optimizer.step()


if __name__ == "__main__":
    main()
