batch_size = 4
norm = dict(mean=[0.0], std=[1.0])
