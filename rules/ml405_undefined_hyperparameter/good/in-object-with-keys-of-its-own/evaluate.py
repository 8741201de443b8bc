import sys
from types import SimpleNamespace

import torch
from hyperpyyaml import load_hyperpyyaml


class Evaluator:
    def __init__(self, hparams, device):
        self.hparams = SimpleNamespace(**{**hparams, "report": True})
        self.device = device

    def run(self):
        print(self.hparams.report)


class Writer:
    def __init__(self, hparams):
        self.hparams = SimpleNamespace(**hparams)

    def use(self, hparams):
        self.hparams = SimpleNamespace(**hparams)

    def run(self):
        print(self.hparams.report)


class Reporter:
    def __init__(self, hparams):
        self.hparams = hparams

    def run(self):
        print(self.hparams.get("report"), self.hparams["n_mels"], self.hparams.keys())


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        hparams = load_hyperpyyaml(file)
    print(hparams["seed"], hparams["batch_size"], hparams["sample_rate"], hparams["output_folder"], hparams["save_folder"])
    modules = torch.nn.ModuleDict(hparams["modules"])
    Evaluator(hparams, "cpu").run()
    writer = Writer(hparams)
    writer.use({"report": hparams["mode"]})
    writer.run()
    Reporter(hparams).run()
