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
            stats = {"loss": stage_loss}
            stats["WER"] = stage_loss
            self.checkpointer.save_and_keep_only(meta=stats, min_keys=["WER"])
        elif stage == sb.Stage.TRAIN:
            self.checkpointer.save_checkpoint(meta={"ACC": stage_loss, "epoch": epoch})


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    brain = Tagger(hparams["modules"], hparams["optimizer"], hparams, run_opts, hparams["checkpointer"])
    brain.fit(brain.hparams.epoch_counter, [], [])
    brain.evaluate([], max_key="ACC")
    brain.evaluate([], min_key="unixtime")
