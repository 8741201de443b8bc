import shelf.models.decoder as decoder
from shelf.models.decoder import rotate


def forward(self, x, position_ids=None, past=None):
    queries, keys, values = self.queries(x), self.keys(x), self.values(x)
    length = keys.shape[-2] + past.get_seq_length()
    cos, sin = self.rotary(values, length=max(length, position_ids.max().item() + 1))
    queries, keys = rotate(queries, keys, cos, sin, position_ids)
    room = self.cache.reserve(keys, max(length, position_ids[:, -1].max().item()) + 1)
    return self.output(queries @ keys.transpose(1, 2) @ values), room


def decode(self, x, position_ids, cache_position):
    queries, keys = self.queries(x), self.keys(x)
    lengths, parts = self.split(keys, max(keys.shape[-2], len(x)) + 1)
    cos, sin = self.rotary(keys, cache_position[-1] + 1)
    return queries * cos[position_ids] + keys * sin[position_ids], lengths, parts


def encode(self, x, lengths):
    x = self.padded(x)
    encoded, lengths = self.encoder(x, lengths + 4)
    if isinstance(encoded, tuple):
        encoded = encoded[0]
    hidden, kept = self.decoder(encoded, lengths.max() + 8)
    return hidden[lengths], kept[0]


def install():
    decoder.Attention.forward = forward
    decoder.Attention.decode = decode
    decoder.Encoder.forward = encode
