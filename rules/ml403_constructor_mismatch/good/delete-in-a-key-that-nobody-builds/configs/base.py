model = dict(type="Tagger", width=8)
