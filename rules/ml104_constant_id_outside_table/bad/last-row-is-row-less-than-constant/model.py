from torch import nn


class Speakers(nn.Module):
    def __init__(self, n_speakers, width):
        super().__init__()
        self.unknown = n_speakers
        self.embed = nn.Embedding(n_speakers, width, padding_idx=n_speakers)  # expect: ML104

    def forward(self, speaker):
        return self.embed(speaker)


class Languages(nn.Module):
    def __init__(self, names, width):
        super().__init__()
        n_languages = len(list(names))
        self.embed = nn.Embedding(n_languages, width, n_languages)  # expect: ML104

    def forward(self, language):
        return self.embed(language)
