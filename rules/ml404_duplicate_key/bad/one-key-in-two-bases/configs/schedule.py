batch_size = 8
epochs = 3
