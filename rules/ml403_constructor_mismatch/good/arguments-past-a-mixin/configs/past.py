model = dict(type="Past", width=3, depth=2)
