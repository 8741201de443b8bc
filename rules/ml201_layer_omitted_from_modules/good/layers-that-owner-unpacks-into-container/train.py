import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.decoder(self.modules.encoder(batch))

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
