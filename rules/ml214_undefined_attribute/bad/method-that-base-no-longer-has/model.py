from base import Base


class Model(Base):
    def forward(self, src, tgt):
        src_mask, tgt_mask = self.make_masks(src, tgt)  # expect: ML214
        return self.scale(self.proj(src * src_mask))


class Small(Model):
    def forward(self, src, tgt):
        self.half = src / 2
        return super().forward(self.half, tgt)
