def with_images(tokenizer, count):
    tokenizer.add_tokens([f"<image {number}>" for number in range(count)])
    return tokenizer
