from torch.nn import Identity

model = dict(type=Identity)
