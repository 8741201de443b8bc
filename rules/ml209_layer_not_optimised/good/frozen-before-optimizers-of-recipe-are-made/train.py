import sys

import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        x = self.modules.encoder(self.modules.wav2vec2(batch))
        return self.modules.ctc_lin(x)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()

    def init_optimizers(self):
        for p in self.modules.ctc_lin.parameters():
            p.requires_grad = False
        self.wav2vec_optimizer = self.hparams.wav2vec_opt_class(self.modules.wav2vec2.parameters())
        self.model_optimizer = self.hparams.model_opt_class(self.hparams.model.parameters())
        self.optimizers_dict = {"wav2vec": self.wav2vec_optimizer, "model": self.model_optimizer}


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["batch_size"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(range(10), [], [])
    model.evaluate([])
