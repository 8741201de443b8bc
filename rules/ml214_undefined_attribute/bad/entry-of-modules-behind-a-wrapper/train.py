import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Tagger(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch.sig[0])

    def compute_objectives(self, predictions, batch, stage):
        return predictions.mean()

    def on_stage_start(self, stage, epoch):
        if stage == sb.Stage.TRAIN:
            self.modules.encoder.reset()  # expect: ML214
        if hasattr(self.modules.encoder, "width"):  # expect: ML214
            print("a width is known")


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    sb.utils.distributed.ddp_init_group(run_opts)
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    brain = Tagger(hparams["modules"], hparams["optimizer"], hparams, run_opts, hparams["checkpointer"])
    brain.fit(brain.hparams.epoch_counter, [], [])
