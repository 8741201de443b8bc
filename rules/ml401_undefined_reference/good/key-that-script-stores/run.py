cfg.model.vocab_size = len(tokens)
