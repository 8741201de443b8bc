epochs = 3
