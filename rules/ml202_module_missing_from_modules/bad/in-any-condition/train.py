import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        x = self.modules.encoder(batch)
        if not self.modules.use_output:  # expect: ML202
            x = x.detach()
        return x

    def compute_objectives(self, predictions, batch, stage):
        if stage == sb.Stage.TEST and self.hparams.n_mels > 100 and self.modules.output:
            predictions = predictions.abs()
        return predictions.sum()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
