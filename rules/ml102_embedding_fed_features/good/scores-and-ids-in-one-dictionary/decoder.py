import torch
from torch import nn
from torch.nn import functional as F


class Decoder(nn.Module):
    def __init__(self, odim, width):
        super().__init__()
        self.embed = nn.Embedding(odim, width)
        self.output = nn.Linear(width, odim)

    def search(self, hyps, steps):
        ids = torch.zeros(1).long()
        for i in range(steps):
            kept = []
            for hyp in hyps:
                ids[0] = hyp["ids"][i]
                scores = F.log_softmax(self.output(self.embed(ids)), dim=1)
                best, found = torch.topk(scores, 4, dim=1)
                for j in range(4):
                    new = {}
                    new["score"] = hyp["score"] + best[0, j]
                    new["ids"] = [0] * (1 + len(hyp["ids"]))
                    new["ids"][: len(hyp["ids"])] = hyp["ids"]
                    new["ids"][len(hyp["ids"])] = int(found[0, j])
                    kept.append(new)
            hyps = kept
        return hyps

    def step(self, state, x):
        state += F.softmax(x, dim=-1)
        return self.embed(state["ids"])
