from loading import add_marks, fit, load_both
from transformers import AutoModelForCausalLM, AutoTokenizer


class Engine:
    def __init__(self, name, marks):
        self.model, tokenizer = load_both(name)  # expect: ML105
        tokenizer.padding_side = "left"
        self.template = add_marks(tokenizer, marks)


def prepare(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name)
    fit(model, tokenizer)  # expect: ML105
    tokenizer.add_tokens(["<image>"])
    return model, tokenizer
