from hyperpyyaml import load_hyperpyyaml

hparams = load_hyperpyyaml(open('hparams.yaml'))
print(hparams["n_mels"], hparams["modules"])
