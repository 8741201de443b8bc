import abc

from lightning.pytorch.callbacks import Callback, ModelCheckpoint


class Quiet(Callback, abc.ABC):
    def on_fit_start(self, trainer, module):
        trainer.progress_bar_callback = None


class Saver(ModelCheckpoint):
    def __init__(self, tag, **kwargs):
        super().__init__(save_top_k=1, **kwargs)
        self.tag = tag


class Block:
    def __init__(self, width, depth=2):
        self.width, self.depth = width, depth


class Deep(Block):
    def __init__(self, rate=0.1, **options):
        """A block with options."""
        super().__init__(64, **options)
        self.rate = rate
