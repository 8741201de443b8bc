import shelf.models.decoder


def forward(self, x, mask=None, position_ids=None, **options):
    cos, sin = self.rotary(x, length=x.shape[-2])
    return x * cos[position_ids] + x.flip(-1) * sin[position_ids]


def install():
    shelf.models.decoder.Attention.forward = forward
