from torch.nn.utils.rnn import pad_sequence

from constants import IGNORE_INDEX


def pack(rows):
    labels = pad_sequence([row["labels"] for row in rows], batch_first=True, padding_value=IGNORE_INDEX)
    position_ids = pad_sequence(
        [row["position_ids"] for row in rows], batch_first=True, padding_value=0  # expect: ML304
    )
    return labels, position_ids
