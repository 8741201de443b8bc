import sys

import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch)  # not loaded from a file

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()

    def init_optimizers(self):
        self.optimizer = self.hparams.opt_class(self.modules.parameters())
        # one optimizer for all layers, no scheduler
        self.optimizers_dict = {"optimizer": self.optimizer}


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["batch_size"])
    model = Model(
        modules=hparams["modules"],
        opt_class=hparams["opt_class"],
        hparams=hparams,
        run_opts=run_opts,
        checkpointer=hparams["checkpointer"],
    )
    model.fit(hparams["epoch_counter"], [], [])
