from nets import Net
from registry import MODELS


class Tuned(Net):
    def __init__(self, rate=0.1, **kwargs):
        scale = kwargs.pop("scale", 1.0)
        super().__init__(**kwargs)
        self.rate = rate * scale


@MODELS.register_module()
class Frozen(Tuned):
    def __init__(self, *args, stages=2, **kwargs):
        super().__init__(*args, **kwargs)
        self.stages = stages
