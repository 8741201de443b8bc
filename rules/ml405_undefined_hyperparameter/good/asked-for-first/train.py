import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        x = self.modules.encoder(batch)
        if hasattr(self.hparams, "augmentation"):
            x = self.hparams.augmentation(x)
        if hasattr(self.hparams, "use_gan") and self.hparams.use_gan:
            x = self.hparams.generator(x)
        return x * getattr(self.hparams, "scale", 1)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum() if stage == sb.Stage.TRAIN else 0


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    if "noise" in hparams:
        print(hparams["noise"])
    print(hparams.get("seed"))
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
