model = dict(type="Speller", tokens=1000, classes=1000)
