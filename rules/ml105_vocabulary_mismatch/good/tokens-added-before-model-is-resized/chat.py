from loading import add_marks, load_model, load_tokenizer


class Engine:
    def __init__(self, name, marks):
        self.tokenizer = load_tokenizer(name)
        self.template = add_marks(self.tokenizer, marks)
        self.model = load_model(self.tokenizer, name)


def again(name, marks):
    tokenizer = load_tokenizer(name)
    model = load_model(tokenizer, name)
    add_marks(tokenizer, marks)
    model.resize_token_embeddings(len(tokenizer))
    return model


def another(name, other, marks):
    tokenizer, others = load_tokenizer(name), load_tokenizer(other)
    model = load_model(tokenizer, name)
    add_marks(others, marks)
    return model, others


def either(name, marks, is_new):
    tokenizer = load_tokenizer(name)
    if is_new:
        return load_model(tokenizer, name)
    return add_marks(tokenizer, marks)
