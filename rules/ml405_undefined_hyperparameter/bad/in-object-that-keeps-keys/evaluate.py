import sys
from types import SimpleNamespace

import torch
from hyperpyyaml import load_hyperpyyaml


class Evaluator:
    def __init__(self, hparams, device):
        self.hparams = SimpleNamespace(**hparams)
        self.table = hparams
        self.modules = torch.nn.ModuleDict(self.hparams.modules).to(device)

    def run(self, batches):
        for batch in batches:
            self.step(batch)
        if self.hparams.report:  # expect: ML405
            self.write()

    def step(self, batch):
        features = self.modules.encoder(batch)
        if self.hparams.mode == "words":
            return self.table["word_search"](features)  # expect: ML405
        return self.hparams.sentence_search(features)

    def write(self):
        print(self.hparams.report_file)

    def never_called(self):
        return self.hparams.nothing


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        hparams = load_hyperpyyaml(file)
    print(hparams["seed"], hparams["batch_size"], hparams["sample_rate"], hparams["output_folder"], hparams["save_folder"])
    evaluator = Evaluator(hparams, "cpu")
    evaluator.run(range(hparams["n_mels"]))
