steps = [dict(type="Linear", start=0), dict(type="Cosine", start=5)]
epochs = 3
clip = None
