import torch
import torch.nn.functional as F


def promoted():
    whole, real, wide = torch.arange(4), torch.rand(4), torch.rand(4).double()
    flags = real > 0.5
    total = whole + real * wide
    total += whole
    total -= wide
    joined = torch.cat([whole, real]), torch.stack([real, wide]), torch.where(flags, real, wide)
    whole += 2
    whole //= 2
    whole *= flags
    powers = whole**2, whole / 2, whole * 0.5, flags * real, flags + flags, flags.long() - 1, 1.0 - real
    bits = ~flags, flags & (real > 0), whole & 1, whole << 2, flags ^ flags, ~whole
    return total, joined, powers, bits, F.mse_loss(real, whole), F.relu(whole), whole.sum().item() / 4


def filled():
    table = torch.zeros(4, 3)
    table[0] = torch.arange(3)
    table[:, 1] = torch.arange(4)
    table[torch.tensor([0, 1]), 0] = 1
    table[table > 0] = torch.tensor(2)
    return table.scatter(1, torch.zeros(4, 1, dtype=torch.long), 1)


def viewed(x):
    bits = torch.rand(4).view(torch.int32)
    bits.bitwise_and_(7)
    kind = torch.int64
    return bits & 1, torch.rand(4).to(kind) & 1, torch.zeros(2, dtype=kind) & 1, x.view(kind) & 1


def picked(x):
    values, places = torch.rand(4, 8).topk(2, dim=1)
    best = torch.rand(4, 8).max(dim=1).indices
    order = torch.rand(4).sort()[1]
    return torch.zeros(4, 8).scatter_(1, places, values), x[best], torch.rand(4, 8).gather(1, places), x[order]


def spread(classes, value=1.0):
    table = torch.zeros(classes.size() + (4,))
    table.scatter_(len(classes.size()), classes.long().unsqueeze(-1), value)
    return table.index_add(classes.dim(), classes.long(), torch.rand(4))


def divided(n):
    whole = torch.arange(8)
    row = torch.div(whole, 4, rounding_mode="floor")
    turn = torch.arange(4).div(2, rounding_mode="trunc")
    return row * (row + 1) >> 1, turn & 1


def counted(entities, triplets):
    tail = triplets[..., 2]
    ones = torch.ones_like(tail, dtype=torch.float)
    return torch.zeros((len(entities),)).index_add(dim=0, index=tail, source=ones)
