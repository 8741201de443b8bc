from transformers import AutoModelForCausalLM, AutoTokenizer


def fit(model, tokenizer):
    rows = model.get_input_embeddings().weight.size(0)
    if len(tokenizer) > rows:
        model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)


def load_model(tokenizer, name):
    model = AutoModelForCausalLM.from_pretrained(name)
    fit(model, tokenizer)
    return model


def load_both(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    return load_model(tokenizer, name), tokenizer


def add_marks(tokenizer, marks):
    if marks:
        tokenizer.add_special_tokens({"additional_special_tokens": marks})
    return {"marks": marks}
