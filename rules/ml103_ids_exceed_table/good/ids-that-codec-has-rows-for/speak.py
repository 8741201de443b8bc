import torch
from snac import SNAC
from torch import nn
from transformers import AutoModel, EncodecConfig, EncodecModel


class Speaker(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.head = nn.Linear(width, 2048)
        self.wide = nn.Linear(width, 4160)
        self.small = EncodecModel(EncodecConfig(codebook_size=2048))
        self.large = SNAC.from_pretrained("hubertsiuzdak/snac_24khz").eval()
        self.music = EncodecModel.from_pretrained("facebook/encodec_32khz")
        self.other = EncodecModel.from_pretrained("somebody/codec")
        self.found = AutoModel.from_pretrained("kyutai/mimi")

    def forward(self, hidden):
        codes, wide = self.head(hidden).argmax(-1), self.wide(hidden).argmax(-1)
        kept = wide.clamp(max=self.found.config.codebook_size - 1)
        told = self.small.decode(codes), self.large.decode([codes]), self.music.decode(codes)
        return told, self.other.decode(wide), self.found.decode(kept)
