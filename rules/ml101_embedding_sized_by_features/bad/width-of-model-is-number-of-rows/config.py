class DecoderConfig:
    def __init__(self, hidden_size=768, vocab_size=32000):
        self.hidden_size = hidden_size
        self.vocab_size = vocab_size
