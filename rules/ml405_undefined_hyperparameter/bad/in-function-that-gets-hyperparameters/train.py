import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


def prepare(hparams):
    return hparams["data_folder"]  # expect: ML405


class Model(sb.Brain):
    pass


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    prepare(hparams)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
