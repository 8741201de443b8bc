model = dict(type="ResNet", depth=50, head=dict(type="LinearClsHead", in_channels=3))
