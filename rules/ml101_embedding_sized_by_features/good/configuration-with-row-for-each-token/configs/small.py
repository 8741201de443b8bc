n_mels = 80
vocab_size = 80
bank = dict(type="Bank", n_mels=n_mels)
table = dict(type="Table", num_embeddings=vocab_size, embedding_dim=256)
encoder = dict(type="torch.nn.Linear", in_features=n_mels, out_features=vocab_size)
