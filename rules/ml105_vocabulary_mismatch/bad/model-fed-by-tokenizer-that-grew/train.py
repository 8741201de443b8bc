from tokens import add_marks
from transformers import AutoModelForCausalLM, AutoTokenizer


def train(name, texts):
    tokenizer = AutoTokenizer.from_pretrained(name)
    add_marks(tokenizer)
    model = AutoModelForCausalLM.from_pretrained(name)  # expect: ML105
    for text in texts:
        batch = tokenizer(text, return_tensors="pt", padding=True)
        model(**batch, labels=batch["input_ids"]).loss.backward()


def answer(name, question):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name)  # expect: ML105
    tokenizer.add_tokens(["<call>"])
    ids = tokenizer(question, return_tensors="pt").input_ids
    return tokenizer.decode(model.generate(ids)[0])
