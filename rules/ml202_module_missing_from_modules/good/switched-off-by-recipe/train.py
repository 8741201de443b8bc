import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.use_output = self.hparams.use_output

    def compute_forward(self, batch, stage):
        x = self.modules.encoder(batch)
        if self.use_output and stage == sb.Stage.TRAIN:
            return self.modules.output(x)
        if not getattr(self.hparams, "frozen", True):
            x = self.modules.wav2vec2(x)
        return x


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
