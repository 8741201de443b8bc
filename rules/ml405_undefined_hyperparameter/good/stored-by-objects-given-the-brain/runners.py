class Runner:
    def __init__(self, brain):
        self.kept = brain.hparams
        self.kept.bias = 1
