import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Other(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch.sig[0])

    def compute_objectives(self, predictions, batch, stage):
        return predictions.mean()

    def on_fit_start(self):
        super().on_fit_start()
        self.valid_step = 0
        if hasattr(self, "profiler"):
            print(self.profiler)

    def on_stage_start(self, stage, epoch):
        self.valid_step += 1
        print(self.valid_step)


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    brain = Other(hparams["modules"], hparams["optimizer"], hparams, run_opts, hparams["checkpointer"])
    brain.fit(brain.hparams.epoch_counter, [], [])
