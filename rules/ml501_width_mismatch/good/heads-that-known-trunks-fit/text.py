from torch import nn
from transformers import AutoModel, BertConfig, BertModel


class Classifier(nn.Module):
    def __init__(self, name, classes):
        super().__init__()
        self.bert = AutoModel.from_pretrained("bert-base-uncased")
        self.any = BertModel.from_pretrained(name)
        self.small = BertModel(BertConfig(hidden_size=128, num_attention_heads=4))
        self.head = nn.Linear(self.bert.config.hidden_size, classes)
        self.first = nn.Linear(1024, classes)
        self.second = nn.Linear(128, classes)

    def forward(self, ids, mask):
        out = self.bert(ids, attention_mask=mask)
        states = out.last_hidden_state  # reveal: [?, ?, 768] float
        _, pooled = self.bert(ids, return_dict=False)  # reveal: pooled → [?, 768] float
        return self.head(states[:, 0]), pooled, self.first(self.any(ids)[0]), self.second(self.small(ids)[0])
