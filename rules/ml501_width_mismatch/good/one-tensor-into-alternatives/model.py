import torch
from torch import nn


class Either(nn.Module):
    def __init__(self, is_small, width, hidden):
        super().__init__()
        self.is_small = is_small
        self.small = nn.Linear(64, 8)
        self.large = nn.Linear(128, 8)
        self.chosen = nn.Linear(64, 8) if is_small else nn.Linear(128, 8)
        self.lazy = nn.LazyLinear(8)
        self.of_width = nn.Linear(width, 8)
        self.of_hidden = nn.Linear(hidden, 8)

    def forward(self, x):
        if self.is_small:
            return self.small(x)
        return self.large(x)

    def choose(self, x):
        return self.small(x) if self.is_small else self.large(x)

    def fit(self, x):
        try:
            return self.small(x)
        except RuntimeError:
            return self.large(x)

    def any_width(self, x):
        return self.chosen(x) + self.large(x) + self.lazy(x)

    def of_settings(self, x):
        return self.of_width(x) + self.of_hidden(x)

    def as_wide_as_it_is(self, x):
        if x.shape[-1] == 64:
            x = torch.cat([x, self.small(x).repeat(1, 8)], -1)
        return self.large(x)

    def one_of_a_table(self, x, kind):
        return {"small": lambda: self.small(x), "large": lambda: self.large(x)}[kind]()

    def by_torch(self, x):
        return torch.cond(x.sum() > 0, lambda one: self.small(one), lambda one: self.large(one), (x,))

    def only_if(self, x, is_wide):
        out = self.small(x)
        if is_wide:
            x = torch.cat([x, x], -1)
            out = out + self.large(x)
        return out


class Others(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.small = nn.Linear(64, 8)
        self.large = nn.Linear(128, 8)
        self.conv = nn.Conv1d(32, 8, 3)

    def forward(self, x):
        first = self.small(x)
        x = self.encoder(x)
        return first + self.large(x)

    def elements(self, pair):
        return self.small(pair[0]) + self.large(pair[1])

    def named(self, batch):
        return self.small(batch["words"]) + self.large(batch["images"]) + self.small(batch.text)

    def unpacked(self, x):
        words, images = self.encoder(x)
        return self.small(words) + self.large(images)

    def levels(self, x):
        maps = self.encoder(x)
        return self.small(maps[0]) + self.large(maps[1])

    def halves(self, x):
        words, images = x.split([64, 128], -1)
        return self.small(words) + self.large(images) + self.small(x[:, :, :64]) + self.large(x[:, :, 64:])

    def called_twice(self, x):
        return self.small(self.encoder(x)) + self.large(self.encoder(x))

    def grows(self, x, times):
        for _ in range(times):
            shown = self.small(x)
            x = torch.cat([x, shown], -1)
        return self.large(x)

    def channels_and_width(self, x):
        return self.conv(x).mean(-1) + self.small(x).mean(1)

    def read(self, name):
        return torch.load(name)

    def of_files(self):
        return self.by_small(self.read("words.pt")) + self.by_large(self.read("images.pt"))

    def by_small(self, x):
        return self.small(x)

    def by_large(self, x):
        return self.large(x)


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(64, 8)
        self.right = nn.Linear(128, 8)

    def forward(self, x):
        return self.left(x) + self.right(x)


class Narrow(Base):
    def __init__(self):
        super().__init__()
        self.right = nn.Linear(64, 8)


class Wide(Base):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(128, 8)
