class Module:
    def fused(self, x):
        return x
