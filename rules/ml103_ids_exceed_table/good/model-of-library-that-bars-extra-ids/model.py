from transformers import LlamaConfig, LlamaForCausalLM

ROWS, MARKS = 4096, 64


def speech_model(width, classes=ROWS + MARKS):
    config = LlamaConfig(vocab_size=classes, hidden_size=width)
    return LlamaForCausalLM(config).eval()
