"""Speak: predict frames of codec ids one after the other, then decode them."""

import torch

from codec import Codec
from config import OmniConfig
from model import OmniModel
from sampler import sample


@torch.inference_mode()
def generate_frames(model: OmniModel, max_frames: int, temperature: float = 1.0) -> list[list[int]]:
    """Frames of one id per codebook, until the first codebook predicts the end."""
    config = model.config
    history = torch.full((config.num_codebooks, 1), config.audio_begin)
    frames = []
    for _ in range(max_frames):
        logits = model(history)
        if logits[0].argmax() == config.audio_end:
            break
        ids = sample(logits[:, : config.audio_vocab_size], temperature=temperature)
        frames.append(ids.tolist())
        history = torch.cat([history, ids.unsqueeze(1)], dim=1)
    return frames


@torch.inference_mode()
def speak(model: OmniModel, codec: Codec, max_frames: int = 200) -> torch.Tensor:
    frames = generate_frames(model, max_frames)
    codes = torch.tensor(frames).t().unsqueeze(0)
    return codec.decode(codes)


if __name__ == "__main__":
    torch.manual_seed(0)
    settings = OmniConfig()
    print(speak(OmniModel(settings), Codec(settings)).shape)
