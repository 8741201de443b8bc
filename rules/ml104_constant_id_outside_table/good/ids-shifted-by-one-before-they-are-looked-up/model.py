from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size + 1, width, padding_idx=0)

    def forward(self, texts):
        ids = pad_sequence(texts, batch_first=True, padding_value=-1)
        return self.embed(ids + 1)
