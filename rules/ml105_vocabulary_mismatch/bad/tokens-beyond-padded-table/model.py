from itertools import count

from transformers import AutoModelForCausalLM, AutoTokenizer

NUMBERS = count()


def one_more(path):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)  # expect: ML105
    while len(tokenizer) <= model.vocab_size:
        tokenizer.add_tokens(f"<extra_{next(NUMBERS)}>")
    return model(**tokenizer("a", return_tensors="pt"))


def not_resized_so_far(path):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer))  # expect: ML105
    rows = (len(tokenizer) + 63) // 64 * 64
    while len(tokenizer) < rows:
        tokenizer.add_tokens(f"<extra_{next(NUMBERS)}>")
    return model(**tokenizer("a", return_tensors="pt"))


def up_to_a_number(path, words):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)  # expect: ML105
    if len(tokenizer) < 32000:
        tokenizer.add_tokens(words)
    return model(**tokenizer("a", return_tensors="pt"))


def some_words(path, words):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer))  # expect: ML105
    for word in words[: len(words) - 1]:
        if model.vocab_size > len(words):
            tokenizer.add_tokens(word)
    return model(**tokenizer("a", return_tensors="pt"))


def with_room(path, words):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)  # expect: ML105
    if len(tokenizer) + len(words) <= model.config.vocab_size:
        return model
    tokenizer.add_tokens(words)
    return model(**tokenizer("a", return_tensors="pt"))
