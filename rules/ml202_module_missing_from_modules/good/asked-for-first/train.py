import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def on_fit_start(self):
        self.has_extractor = hasattr(self.modules, "extractor")

    def compute_forward(self, batch, stage):
        x = self.modules.encoder(batch)
        if hasattr(self.modules, "normalize"):
            x = self.modules.normalize(x)
        if "output" in self.modules.keys():
            x = self.modules.output(x)
        if hasattr(self.hparams, "use_lm") and self.hparams.use_lm:
            x = self.modules.lm(x)
        return self.modules.extractor(x) if self.has_extractor else x


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
