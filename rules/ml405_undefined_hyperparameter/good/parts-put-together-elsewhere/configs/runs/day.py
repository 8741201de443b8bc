repeat = 2
