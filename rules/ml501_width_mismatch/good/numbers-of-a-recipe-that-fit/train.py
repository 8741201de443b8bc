import sys

import torch
import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Tagging(sb.Brain):
    def compute_forward(self, batch, stage):
        features, lengths = batch.features
        tags = self.modules.tagger(features)
        states, _ = self.modules.encoder(features)
        decoded = self.modules.decoder(states)
        return tags, self.modules.projection(decoded), self.modules.head(decoded), self.modules.either(features)

    def compute_objectives(self, predictions, batch, stage):
        return sum(prediction.mean() for prediction in predictions)


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as file:
        hparams = load_hyperpyyaml(file, overrides)
    brain = Tagging(modules=hparams["modules"], opt_class=hparams["opt_class"], hparams=hparams, run_opts=run_opts)
    brain.modules.head = torch.nn.Linear(64, 10)
    brain.fit(brain.hparams.epoch_counter, hparams["train_data"])
