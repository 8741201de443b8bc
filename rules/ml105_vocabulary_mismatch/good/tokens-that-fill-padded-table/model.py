from itertools import count

from transformers import AutoModelForCausalLM, AutoTokenizer

NUMBERS = count()


def padded(path, words):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    tokenizer.add_tokens(words)
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)
    number = 0
    while model.vocab_size > len(tokenizer.vocab):
        tokenizer.add_tokens(f"<extra_{number}>")
        number += 1
    return model(**tokenizer("a", return_tensors="pt"))


def counted(path):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)
    spare = model.get_input_embeddings().num_embeddings - len(tokenizer)
    tokenizer.add_tokens([f"<extra_{number}>" for number in range(spare)])
    return model(**tokenizer("a", return_tensors="pt"))


def rounded(path):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    rows = (len(tokenizer) + 63) // 64 * 64
    model.resize_token_embeddings(rows)
    for number in range(rows - len(tokenizer)):
        tokenizer.add_tokens(f"<extra_{number}>")
    return model(**tokenizer("a", return_tensors="pt"))


def divided(path):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)
    while len(tokenizer) % 64 != 0:
        tokenizer.add_tokens(f"<extra_{next(NUMBERS)}>")
    return model(**tokenizer("a", return_tensors="pt"))


def with_room(path, words):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)
    if len(tokenizer) + len(words) <= model.config.vocab_size:
        tokenizer.add_tokens(words)
    return model(**tokenizer("a", return_tensors="pt"))


def fill(tokenizer, rows):
    while True:
        if len(tokenizer) >= rows:
            break
        tokenizer.add_tokens(f"<extra_{next(NUMBERS)}>")


def filled(path):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)
    fill(tokenizer, model.config.vocab_size)
    return model(**tokenizer("a", return_tensors="pt"))
