import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer


class Tuner:
    def load(self, name):
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForCausalLM.from_pretrained(name)  # expect: ML105
        if not tokenizer.pad_token:
            tokenizer.add_special_tokens({"pad_token": "[PAD]"})
        self.tokenizer = tokenizer
        self.model = model

    def train(self, data):
        collate = DataCollatorForLanguageModeling(self.tokenizer, mlm=False)
        trainer = Trainer(model=self.model, train_dataset=data, data_collator=collate)
        trainer.train()


def scores_of(choices):
    tokenizer = AutoTokenizer.from_pretrained("openai-community/openai-gpt")
    model = AutoModelForCausalLM.from_pretrained("openai-community/openai-gpt")  # expect: ML105
    tokenizer.add_special_tokens({"cls_token": "[CLS]"})
    ids = torch.tensor([tokenizer.encode(choice) for choice in choices])
    return model(ids).logits
