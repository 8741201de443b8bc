outputs = 10
width = 64
model = dict(
    type="Net",
    trunk=dict(type="Trunk", depth=4, width=width),
    head=dict(type="LinearHead", width=width, outputs=outputs),
)
loader = dict(workers=2, dataset=dict(type='Numbers', size=3))
