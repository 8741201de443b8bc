class SeaNet:
    pass
