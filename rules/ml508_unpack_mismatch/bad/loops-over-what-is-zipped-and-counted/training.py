def run(batches, targets, weights):
    total = 0
    for x, y in zip(batches, targets, weights):  # expect: ML508
        total += x * y
    for step, x, y in enumerate(zip(batches, targets)):  # expect: ML508
        total += step
    return [a for a, b, c in zip(batches, targets)]  # expect: ML508


first, second = 1, 2, 3  # expect: ML508
