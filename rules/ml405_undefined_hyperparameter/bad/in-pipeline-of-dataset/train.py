import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


def prepare(hparams):
    data = sb.dataio.dataset.DynamicItemDataset.from_csv("train.csv")

    @sb.utils.data_pipeline.takes("wav")
    @sb.utils.data_pipeline.provides("sig")
    def audio(wav):
        sig = sb.dataio.dataio.read_audio(wav)
        if hparams["do_perturb"]:
            sig = hparams["perturb"](sig)  # expect: ML405
        if hparams["n_mels"] > 80:
            sig = hparams["resample"](sig)
        return sig

    def never_added(wav):
        return hparams["reverb"](wav)

    sb.dataio.dataset.add_dynamic_item([data], audio)
    sb.dataio.dataset.set_output_keys([data], ["id", "sig"])
    return data


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch.sig)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["seed"], hparams["batch_size"], hparams["sample_rate"], hparams["output_folder"], hparams["save_folder"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(range(hparams["n_mels"]), prepare(hparams))
