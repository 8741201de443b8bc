from torch import nn
from transformers import AutoModel, BertConfig, BertModel, DistilBertModel


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.bert = AutoModel.from_pretrained("bert-base-uncased")
        self.head = nn.Linear(1024, classes)

    def forward(self, ids, mask):
        out = self.bert(ids, attention_mask=mask)
        return self.head(out.last_hidden_state[:, 0])  # expect: ML501


class Pooled(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.bert = BertModel.from_pretrained("bert-large-uncased")
        self.head = nn.Linear(768, classes)

    def forward(self, ids):
        return self.head(self.bert(input_ids=ids).pooler_output)  # expect: ML501


class Joined(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.bert = BertModel(BertConfig())
        self.head = nn.Linear(self.bert.config.hidden_size * 2, classes)

    def forward(self, ids):
        return self.head(self.bert(ids)[1])  # expect: ML501


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = DistilBertModel.from_pretrained("distilbert-base-uncased")
        self.lstm = nn.LSTM(512, 128)

    def forward(self, ids):
        return self.lstm(self.bert(ids)[0])  # expect: ML501
