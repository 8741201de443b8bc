model = dict(type="Tagger", n_mels=80, width=128, hidden=128)
