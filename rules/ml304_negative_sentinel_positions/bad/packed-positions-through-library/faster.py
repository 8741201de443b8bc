import shelf.models.decoder


def rotate(queries, keys, cos, sin, position_ids):
    cos, sin = cos[position_ids].unsqueeze(1), sin[position_ids].unsqueeze(1)
    return queries * cos, keys * sin


def forward(self, x, mask=None, position_ids=None, **options):
    queries, keys = self.queries(x), self.keys(x)
    cos, sin = self.rotary(keys, length=keys.shape[-2])
    queries, keys = rotate(queries, keys, cos, sin, position_ids)
    return self.output(queries @ keys.transpose(1, 2)), None


def install():
    shelf.models.decoder.Attention.forward = forward
