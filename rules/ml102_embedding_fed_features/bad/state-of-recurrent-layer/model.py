from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, tokens):
        return self.embed(tokens)


class Translator(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.decoder = Decoder(vocab_size, width)

    def forward(self, source):
        states, last = self.rnn(source)
        return self.decoder(states)  # expect: ML102
