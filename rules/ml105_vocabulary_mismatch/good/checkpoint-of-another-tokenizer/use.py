from train import load


def answer(name, text):
    model, tokenizer = load(name)
    model.resize_token_embeddings(len(tokenizer))
    return model.generate(**tokenizer(text, return_tensors="pt"))
