from modeling_old import OldNet


class Net(OldNet):
    def __init__(self, config):
        super().__init__(config, layer_type="full")
