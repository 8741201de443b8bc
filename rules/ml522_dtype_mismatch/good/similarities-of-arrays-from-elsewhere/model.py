import numpy as np


def accuracy(parts, texts, labels):
    rows = []
    for part in parts:
        rows.append(np.array(part))
    rows = np.concatenate(rows)
    similar = rows @ texts.reshape([3, 4, -1]).mean(axis=1).T
    return (similar.argmax(axis=1) == np.array(labels)).mean()
