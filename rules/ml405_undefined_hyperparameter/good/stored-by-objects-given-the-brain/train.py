import sys

from runners import Runner

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch) * self.hparams.scale + self.hparams.bias


class Client:
    def __init__(self, brain):
        self.told = brain.hparams

    def run(self, scale):
        self.told.scale = scale


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    Runner(model)
    Client(model).run(2)
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
