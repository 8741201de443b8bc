import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BertConfig, BertForSequenceClassification, BertTokenizer
from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments

MARKS = ["[from]", "[to]"]


def classify(name, rows, labels):
    tokenizer = BertTokenizer.from_pretrained(name, additional_special_tokens=MARKS)
    config = BertConfig.from_pretrained(name, num_labels=7)
    model = BertForSequenceClassification.from_pretrained(name, config=config)  # expect: ML105
    batch = tokenizer(rows, padding=True, return_tensors="pt")
    model(**batch, labels=torch.tensor(labels)).loss.backward()


def fine_tune(data):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    model = AutoModelForCausalLM.from_pretrained("gpt2")  # expect: ML105
    collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=data, data_collator=collator).train()
