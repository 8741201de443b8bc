import torch

from codec import Codec
from config import SpeechConfig
from model import SpeechModel


def speak(hidden):
    config = SpeechConfig()
    model, codec = SpeechModel(config), Codec(config)
    frames = model.generate(hidden, 100)
    return codec.decode(torch.tensor(frames))  # expect: ML103
