import shelf.models.decoder as decoder
from shelf.models.decoder import rotate


def forward(self, x, position_ids=None, past=None):
    queries, keys, values = self.queries(x), self.keys(x), self.values(x)
    length = keys.shape[-2]
    if past is not None:
        length += past.get_seq_length()
    length = max(length, position_ids[:, -1].max().item()) + 1  # expect: ML301
    cos, sin = self.rotary(values, length=length)
    queries, keys = rotate(queries, keys, cos, sin, position_ids)
    return self.output(queries @ keys.transpose(1, 2) @ values)


def packed_forward(self, x, position_ids, past):
    queries, keys = self.queries(x), self.keys(x)
    rows = max(keys.shape[-2] + past.get_seq_length(), int(position_ids[:, -1].max()) + 1)  # expect: ML301
    cos, sin = self.rotary(keys, rows)
    cos, sin = cos[position_ids], sin[position_ids]
    return self.output(queries * cos + keys * sin)


def install():
    decoder.Attention.forward = forward
    decoder.PackedAttention.forward = packed_forward
