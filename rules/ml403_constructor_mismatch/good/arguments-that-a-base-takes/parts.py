import other
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint


class Saver(ModelCheckpoint):
    def __init__(self, tag, **kwargs):
        super().__init__(save_top_k=1, **kwargs)
        self.tag = tag


class EarlyStopping(EarlyStopping):
    def __init__(self, quiet=True, **kwargs):
        super().__init__(**kwargs)
        self.quiet = quiet


class Block:
    def __init__(self, width, depth=2):
        self.width, self.depth = width, depth


class Deep(Block):
    def __init__(self, rate=0.1, **options):
        super().__init__(64, **options)
        self.rate = rate


class Choosy(Block):
    def __init__(self, **options):
        self.label = options.pop("label", None)
        super().__init__(64, **options)


class Lenient(Block):
    def __init__(self, strict=True, **options):
        if strict:
            super().__init__(64, **options)


class Mixed(Callback, Block):
    pass


class Unknown(other.Base):
    def __init__(self, **options):
        super().__init__(**options)
