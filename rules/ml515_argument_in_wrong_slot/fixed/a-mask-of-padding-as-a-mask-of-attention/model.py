from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)

    def forward(self, x, src_key_padding_mask=None):  # (batch, time, 8)
        return self.layer(x, src_key_padding_mask=src_key_padding_mask)  # expect: ML515
