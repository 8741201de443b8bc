import torch
from torch.nn.utils.rnn import pad_sequence

from constants import IGNORE_INDEX


class Packing:
    def repack(self, embeds, labels, mask, cache):
        lengths, order = torch.sort(mask.sum(dim=-1), descending=True)
        rows, positions, targets, row, places, marks, used = [], [], [], [], [], [], 0
        for i in range(len(lengths)):
            if used + lengths[i].item() > embeds.shape[1]:
                rows.append(torch.cat(row, 0))
                positions.append(torch.cat(places, 0))
                targets.append(torch.cat(marks, 0))
                row, places, marks, used = [], [], [], 0
            used += lengths[i].item()
            row.append(embeds[order[i]][mask[order[i]]])
            places.append(torch.arange(row[-1].shape[0], device=row[-1].device))
            marks.append(labels[order[i]][mask[order[i]]])
        rows.append(torch.cat(row, 0))
        positions.append(torch.cat(places, 0))
        targets.append(torch.cat(marks, 0))
        rows = pad_sequence(rows, batch_first=True, padding_value=0.0)
        positions = pad_sequence(positions, batch_first=True, padding_value=IGNORE_INDEX)  # expect: ML304
        targets = pad_sequence(targets, batch_first=True, padding_value=IGNORE_INDEX)
        packed = positions.ne(IGNORE_INDEX)
        assert packed.sum() == mask.sum()
        return None, positions, packed, cache, rows, targets, lengths
