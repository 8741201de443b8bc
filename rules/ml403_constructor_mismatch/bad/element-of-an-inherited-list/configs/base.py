steps = [dict(type='Layer', width=1), dict(type='Layer', width=2)]
model = dict(type='Net', steps=steps)
