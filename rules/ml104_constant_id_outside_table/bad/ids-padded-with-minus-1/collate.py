from torch.nn.utils.rnn import pad_sequence


def collate(examples):
    return pad_sequence([example["ids"] for example in examples], batch_first=True, padding_value=-1)
