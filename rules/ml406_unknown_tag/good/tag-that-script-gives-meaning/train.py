import os

import ruamel.yaml
from hyperpyyaml import load_hyperpyyaml

ruamel.yaml.Loader.add_constructor("!env", lambda loader, node: os.environ[node.value])
hparams = load_hyperpyyaml(open('hparams.yaml'))
print(hparams["n_mels"], hparams["layer"], hparams["seed"])
