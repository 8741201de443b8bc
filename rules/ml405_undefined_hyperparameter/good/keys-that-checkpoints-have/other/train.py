import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Tagger(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch.sig[0])

    def compute_objectives(self, predictions, batch, stage):
        return predictions.mean()

    def on_stage_end(self, stage, stage_loss, epoch):
        if stage == sb.Stage.VALID:
            self.checkpointer.save_and_keep_only(meta=self.stats(stage_loss), min_keys=["WER"])

    def stats(self, loss):
        return {"WER": loss}


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    brain = Tagger(hparams["modules"], hparams["optimizer"], hparams, run_opts, hparams["checkpointer"])
    brain.fit(brain.hparams.epoch_counter, [], [])
    brain.evaluate([], min_key="WER")
