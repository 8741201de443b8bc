from loading import add_marks, load_both


class Engine:
    def __init__(self, name, marks):
        self.model, tokenizer = load_both(name)  # expect: ML105
        tokenizer.padding_side = "left"
        self.template = add_marks(tokenizer, marks)
