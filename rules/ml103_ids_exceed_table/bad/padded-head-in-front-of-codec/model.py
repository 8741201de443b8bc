from torch import nn

from config import SpeechConfig


class SpeechModel(nn.Module):
    def __init__(self, config: SpeechConfig):
        super().__init__()
        self.head = nn.Linear(config.width, config.codebook_size + config.n_special)

    def generate(self, hidden, steps):
        frames = []
        for _ in range(steps):
            frames.append(self.head(hidden)[-1].argmax(-1).tolist())
        return frames
