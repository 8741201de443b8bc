"""What the tests of maps share: a project with everything a map can show."""

from __future__ import annotations

SCRIPT = """\
import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class ASR(sb.Brain):
    def compute_forward(self, batch, stage):
        x = self.modules.encoder(batch)
        if stage == sb.Stage.TEST:
            return self.hparams.searcher(x)
        return self.modules.head(self.hparams.left(x))

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["batch_size"])
    asr = ASR(
        modules=hparams["modules"],
        opt_class=hparams["opt_class"],
        hparams=hparams,
        run_opts=run_opts,
        checkpointer=hparams["checkpointer"],
    )
    asr.fit(range(10), [], [])
    asr.evaluate([])
"""

#: `left` is in no `modules`, `head` in no checkpoint; `frozen` is asked to freeze.
RECIPE = """\
n_mels: 80
batch_size: 8
encoder: !new:torch.nn.Linear
    in_features: !ref <n_mels>
    out_features: 512
left: !new:torch.nn.Linear
    in_features: 512
    out_features: 256
head: !new:torch.nn.Linear
    in_features: 256
    out_features: 40
searcher: !new:speechbrain.decoders.S2STransformerBeamSearcher
    modules: [!ref <encoder>, !ref <head>]
    bos_index: 1
    eos_index: 2
    min_decode_ratio: 0.0
    max_decode_ratio: 1.0
    beam_size: 4
modules:
    encoder: !ref <encoder>
    head: !ref <head>
model: !new:torch.nn.ModuleList
    - [!ref <encoder>, !ref <left>]
opt_class: !name:torch.optim.Adam
    lr: 0.001
checkpointer: !new:speechbrain.utils.checkpoints.Checkpointer
    checkpoints_dir: save
    recoverables:
        model: !ref <model>
"""

MODEL = '''\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, 4 * width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(self.proj(x))


class Encoder(nn.Module):
    """An encoder."""

    def __init__(self, width, depth=3, out=None):
        super().__init__()
        self.embed = nn.Linear(80, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.lost = [nn.Linear(width, width) for _ in range(depth)]
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("steps", torch.zeros(10))
        if out is not None:
            self.head = nn.Linear(width, out)

    def forward(self, x):
        x = self.embed(x) * self.scale
        for block, lost in zip(self.blocks, self.lost):
            x = lost(block(x))
        return self._finish(x)

    def _finish(self, x):
        return self.head(x)
'''

PROJECT = {"hparams.yaml": RECIPE, "train.py": SCRIPT, "model.py": MODEL}
