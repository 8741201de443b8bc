import ruamel.yaml
from hyperpyyaml import load_hyperpyyaml
from tags import TAGS

for tag, constructor in TAGS.items():
    ruamel.yaml.Loader.add_constructor(tag, constructor)
hparams = load_hyperpyyaml(open('hparams.yaml'))
print(hparams["n_mels"], hparams["layer"], hparams["seed"])
