class SpectParams:
    @classmethod
    def tunable(cls):
        return {"eos"}
