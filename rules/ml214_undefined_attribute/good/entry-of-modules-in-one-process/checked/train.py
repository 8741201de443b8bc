import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Tagger(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch.sig[0])

    def compute_objectives(self, predictions, batch, stage):
        return predictions.mean()

    def on_stage_start(self, stage, epoch):
        encoder = self.modules.encoder
        if hasattr(encoder, "module"):
            encoder = encoder.module
        encoder.reset()

    def on_stage_end(self, stage, stage_loss, epoch):
        self.modules.encoder.train()
        print(self.modules.encoder.training, self.hparams.encoder.width)


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    sb.utils.distributed.ddp_init_group(run_opts)
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    brain = Tagger(hparams["modules"], hparams["optimizer"], hparams, run_opts, hparams["checkpointer"])
    brain.fit(brain.hparams.epoch_counter, [], [])
