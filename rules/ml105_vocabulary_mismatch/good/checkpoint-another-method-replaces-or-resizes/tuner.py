from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer


class Replaced:
    def load(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)
        self.tokenizer.add_special_tokens({"pad_token": "[PAD]"})

    def enlarge(self, path):
        self.model = AutoModelForCausalLM.from_pretrained(path)

    def train(self, data):
        Trainer(model=self.model, train_dataset=data, processing_class=self.tokenizer).train()


class Resized:
    def load(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)
        self.tokenizer.add_special_tokens({"pad_token": "[PAD]"})

    def prepare(self):
        self.model.resize_token_embeddings(len(self.tokenizer))

    def train(self, data):
        Trainer(model=self.model, train_dataset=data, processing_class=self.tokenizer).train()
