import torch

from nets import Encoder


def build(width):
    encoder = Encoder(width)
    return encoder.cuda()


def restore(encoder, path):
    state = torch.load(path)
    encoder.load_state_dict(state["encoder"])


def embed(encoder, inputs):
    return encoder(inputs).cpu()  # expect: ML706


if __name__ == "__main__":
    encoder = build(32)
    restore(encoder, "encoder.pt")
    with torch.inference_mode():
        torch.save(embed(encoder, torch.load("inputs.pt")), "embedded.pt")
