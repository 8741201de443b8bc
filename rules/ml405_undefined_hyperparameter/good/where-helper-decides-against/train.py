import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml
from speechbrain.dataio.sampler import DynamicBatchSampler


def prepare(hparams):
    data = sb.dataio.dataset.DynamicItemDataset.from_csv("train.csv")
    sampler = None
    if hparams["dynamic_batching"]:
        sampler = DynamicBatchSampler(data, **hparams["sampler"])
    return data, sampler


def is_tested(hparams):
    if hparams["seed"] > 5000:
        return True


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch.sig)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


def main():
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    data, sampler = prepare(hparams)
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    loader = hparams["loader"]
    if sampler is not None:
        loader = {"batch_sampler": sampler, "num_workers": hparams["num_workers"]}
    else:
        print(hparams["batch_size"])
    model.fit(range(hparams["n_mels"]), data, train_loader_kwargs=loader)
    if is_tested(hparams):
        print(hparams["test_file"])


if __name__ == "__main__":
    main()
