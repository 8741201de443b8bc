_base_ = ["./base.py", "./runtime.py"]

size = _base_.width * 2
hook = _base_.log.hooks[0]
names = [f"class_{n}" for n in range(_base_.outputs)]
part = _base_["model"]["trunk"]
_base_.log.hooks[0].every = 5
model = dict(trunk=dict(depth={{_base_.model.trunk.depth}}), head=dict(outputs=len(names)))
where = "{{ fileDirname }}/data"
for name in names:
    last = name
del _base_.log
