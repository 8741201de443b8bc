import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Tagger(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch.sig[0])

    def compute_objectives(self, predictions, batch, stage):
        return predictions.mean()

    def fit_batch(self, batch):
        loss = self.compute_objectives(self.compute_forward(batch, sb.Stage.TRAIN), batch, sb.Stage.TRAIN)
        loss.backward()
        if self.use_amp:
            self.scaler.update()
        self.optimizers_step()
        return loss.detach().cpu()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    brain = Tagger(hparams["modules"], hparams["optimizer"], hparams, run_opts, hparams["checkpointer"])
    brain.fit(brain.hparams.epoch_counter, [], [])
