n_mels = 80
vocab_size = 5000
bank = dict(type="Bank", n_mels=n_mels)
table = dict(
    type="Table",
    num_embeddings=n_mels,  # expect: ML101
    embedding_dim=256,
)
encoder = dict(type="torch.nn.Linear", in_features=n_mels, out_features=vocab_size)
