seed = 0
