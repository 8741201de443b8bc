from torch import nn

from encoder import SpeechEncoder


class SpeechModel(nn.Module):
    def __init__(self, n_mels=80, width=256, vocab_size=1000):
        super().__init__()
        self.encoder = SpeechEncoder(n_mels, width)
        self.embed = nn.Embedding(vocab_size, width)

    def encode(self, mel):
        return self.encoder(mel)

    def forward(self, mel):
        return self.embed(self.encode(mel))  # expect: ML102
