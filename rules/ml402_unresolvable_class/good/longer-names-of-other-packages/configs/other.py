model = dict(type="ConvTrunk", depth=2, head=dict(type="LinearClassHead"))
