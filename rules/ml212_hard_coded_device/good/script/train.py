import torch
from torch import nn


class Lines(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return torch.tensor(index)


def main():
    model = nn.Linear(3, 3).cuda()
    for x in Lines():
        model(x.cuda())


if __name__ == "__main__":
    main()
