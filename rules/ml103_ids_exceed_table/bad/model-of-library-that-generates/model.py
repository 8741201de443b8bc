from transformers import LlamaConfig, LlamaForCausalLM

ROWS, MARKS = 4096, 64


def speech_model(width):
    config = LlamaConfig(vocab_size=ROWS + MARKS, hidden_size=width)
    return LlamaForCausalLM(config).eval()
