MARKS = ["<image>", "</image>"]


def add_marks(tokenizer):
    if tokenizer.pad_token is None:
        tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    tokenizer.add_tokens(MARKS)
