class SeaConfig:
    pass
