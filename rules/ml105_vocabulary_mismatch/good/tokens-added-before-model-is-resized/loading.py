from transformers import AutoModelForCausalLM, AutoTokenizer


def load_tokenizer(name):
    return AutoTokenizer.from_pretrained(name)


def load_model(tokenizer, name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.resize_token_embeddings(len(tokenizer))
    return model


def add_marks(tokenizer, marks):
    if marks:
        tokenizer.add_special_tokens({"additional_special_tokens": marks})
    return {"marks": marks}
