import sys
from enum import Enum

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Mode(Enum):
    SIMPLE = "simple"
    LATENT = "latent"


class Model(sb.Brain):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.mode = Mode(self.hparams.mode)

    def compute_forward(self, batch, stage):
        x = self.modules.encoder(batch)
        if self.mode == Mode.LATENT:
            x = self.modules.latent(x)  # expect: ML202
        if self.mode is Mode.SIMPLE:
            x = self.modules.decoder(x)
        return x

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
