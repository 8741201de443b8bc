class Interface:
    @classmethod
    def build(cls, inputs, outputs):
        return cls(inputs, outputs)
