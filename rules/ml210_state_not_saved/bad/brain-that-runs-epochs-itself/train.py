import sys

import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()

    def make_dataloader(self, dataset, stage, ckpt_prefix="dataloader-", **loader_kwargs):
        dataloader = sb.dataio.dataloader.make_dataloader(dataset, **loader_kwargs)
        if self.checkpointer is not None and ckpt_prefix is not None:
            self.checkpointer.add_recoverable(ckpt_prefix + stage.name, dataloader)
        return dataloader

    def fit(self, epoch_counter, train_set, valid_set):
        train_set = self.make_dataloader(train_set, sb.Stage.TRAIN)
        self.on_fit_start()
        for epoch in epoch_counter:
            self._fit_train(train_set=train_set, epoch=epoch, enable=False)

    def on_fit_batch_end(self, batch, outputs, loss, should_step):
        if hasattr(self.hparams.lr_annealing, "on_batch_end"):
            self.hparams.lr_annealing.on_batch_end(self.optimizer)


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
