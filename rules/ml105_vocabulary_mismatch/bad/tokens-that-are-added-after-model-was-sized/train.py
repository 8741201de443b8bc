from model import Model


def build(tokenizer):
    model = Model(len(tokenizer))  # expect: ML105
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    return model, tokenizer
