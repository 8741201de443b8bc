from typing import List, Optional

import torch
from torch import Tensor, tensor
from torchmetrics import Metric


def _update(preds, total, sentences=None):
    total += len(preds)
    if sentences is not None:
        sentences.append(tensor([1.0]))
    return total, sentences


class Ter(Metric):
    total: Tensor
    sentences: Optional[List[Tensor]] = None

    def __init__(self, is_listed=False, **options):
        super().__init__(**options)
        self.add_state("total", tensor(0.0), dist_reduce_fx="sum")
        if is_listed:
            self.add_state("sentences", [], dist_reduce_fx="cat")

    def update(self, preds):
        self.total, self.sentences = _update(preds, self.total, self.sentences)

    def compute(self):
        if self.sentences is not None:
            return self.total, torch.cat(self.sentences)
        return self.total
