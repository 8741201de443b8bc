def add_marks(tokenizer, model):
    added = tokenizer.add_tokens(["<image>"])
    if added:
        model.resize_token_embeddings(len(tokenizer))


def fit(model, tokenizer):
    model.resize_token_embeddings(len(tokenizer))
