import torch
from transformers import AutoTokenizer


class Groups:
    def __init__(self, name, groups):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.group_of = torch.zeros([self.tokenizer.vocab_size], dtype=torch.long)  # expect: ML105
        for number, ids in enumerate(groups):
            self.group_of[ids] = number

    def __call__(self, messages):
        return self.group_of[self.tokenizer.apply_chat_template(messages, return_tensors="pt")]
