from torch import nn


class Encoding(nn.Module):
    def forward(self, ids):
        if ids.size(1) > self.limit:
            raise ValueError(f"at most {self.limit} tokens")
        return self.encode(ids)

    @classmethod
    def tried(cls, ids):
        return cls(8)(ids)
