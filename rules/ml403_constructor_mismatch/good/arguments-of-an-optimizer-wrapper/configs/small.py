from mmengine.optim import AmpOptimWrapper, LinearLR

model = dict(type="Net", in_features=4, out_features=2)
optim_wrapper = dict(
    type=AmpOptimWrapper,
    optimizer=dict(type="AdamW", lr=0.0001),
    paramwise_cfg=dict(norm_decay_mult=0.0),
    constructor="DefaultOptimWrapperConstructor",
)
param_scheduler = [dict(type=LinearLR, start_factor=0.001, end=5, convert_to_iter_based=True)]
