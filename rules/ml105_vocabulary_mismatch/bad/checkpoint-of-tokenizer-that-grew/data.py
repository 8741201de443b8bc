from torch.utils.data import Dataset


class Lines(Dataset):
    def __init__(self, lines, tokenizer):
        self.rows = [tokenizer(line, return_tensors="pt").input_ids[0] for line in lines]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.rows[at]
