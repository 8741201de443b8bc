import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()

    def fit_batch(self, batch):
        loss = self.compute_objectives(self.compute_forward(batch, sb.Stage.TRAIN), batch, sb.Stage.TRAIN)
        if self.auto_mix_prec:
            self.scaler.scale(loss).backward()
            if self.check_gradients(loss):
                if self.optimizer_step >= self.hparams.warmup_steps:  # expect: ML405
                    self.scaler.step(self.optimizer)
        else:
            loss.backward()
            if self.check_gradients(loss):
                if self.optimizer_step >= self.hparams.warmup_steps:  # expect: ML405
                    self.optimizer.step()
        return loss.detach()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
