batch_size = 4
data = dict(workers=2)
