import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml
from somewhere import make_activation


class Speakers(sb.Brain):
    def compute_forward(self, batch, stage):
        signals, lengths = batch.signal
        scores = self.modules.head(self.modules.encoder(signals))
        return self.hparams.activation(scores), lengths

    def compute_objectives(self, predictions, batch, stage):
        predicted, lengths = predictions
        return self.hparams.cost(predicted, batch.speaker)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        hparams = load_hyperpyyaml(file)
    hparams["activation"] = make_activation(sys.argv)
    brain = Speakers(hparams["modules"], hparams["opt_class"], hparams)
    brain.fit(range(hparams["epochs"]), hparams["data"])
