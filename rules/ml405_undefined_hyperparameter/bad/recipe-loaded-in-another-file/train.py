import sys

import speechbrain as sb
from reading import read


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch) * self.hparams.scale  # expect: ML405

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    found = read(hparams_file, overrides)
    print(found["n_mels"], found["number_of_epochs"])
    model = Model(modules=found["modules"], hparams=found, run_opts=run_opts)
    model.fit(found["epoch_counter"], [], [])
    model.evaluate([])
