from transformers import MimiModel


def load(device):
    tokenizer = None
    codec = MimiModel.from_pretrained("kyutai/mimi").eval().to(device)
    return tokenizer, codec
