from tokens import add_marks, fit
from transformers import AutoModelForCausalLM, AutoTokenizer, InstructBlipProcessor, Trainer


def by_helper(name, data):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name)
    add_marks(tokenizer, model)
    Trainer(model=model, tokenizer=tokenizer, train_dataset=data).train()


def afterwards(name, data):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name)
    tokenizer.add_tokens(["<image>"])
    fit(model, tokenizer)
    Trainer(model=model, tokenizer=tokenizer, train_dataset=data).train()


def another(name, other, data):
    tokenizer, others = AutoTokenizer.from_pretrained(name), AutoTokenizer.from_pretrained(other)
    model = AutoModelForCausalLM.from_pretrained(name)
    others.add_tokens(["<image>"])
    Trainer(model=model, tokenizer=tokenizer, train_dataset=data).train()
    return others


def both(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_tokens(["<image>"])
    return AutoModelForCausalLM.from_pretrained(name), tokenizer


def processor(name, other, images):
    tokenizer, others = AutoTokenizer.from_pretrained(name), AutoTokenizer.from_pretrained(other)
    others.add_special_tokens({"bos_token": "[DEC]"})
    return InstructBlipProcessor(images, tokenizer=tokenizer, qformer_tokenizer=others)


def one_of_them(name, is_new):
    if is_new:
        tokenizer = AutoTokenizer.from_pretrained("new")
        tokenizer.add_special_tokens({"bos_token": "[DEC]"})
    else:
        tokenizer = AutoTokenizer.from_pretrained(name)
    return tokenizer(tokenizer("a").text)
