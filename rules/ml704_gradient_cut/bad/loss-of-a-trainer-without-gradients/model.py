import torch
from torch.nn import functional as F
from transformers import Trainer


class Tagger(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        with torch.no_grad():
            hidden = model(inputs["ids"])
            scores = F.softmax(hidden, dim=-1)
        return scores.detach().sum()  # expect: ML704
