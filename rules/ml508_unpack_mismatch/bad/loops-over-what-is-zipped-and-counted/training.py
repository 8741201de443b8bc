def total(batches, targets, weights):
    total = 0
    for x, y in zip(batches, targets, weights):  # expect: ML508
        total += x * y
    return total


def steps(batches, targets):
    total = 0
    for step, x, y in enumerate(zip(batches, targets)):  # expect: ML508
        total += step
    return total


def firsts(batches, targets):
    return [a for a, b, c in zip(batches, targets)]  # expect: ML508


def ends():
    first, second = 1, 2, 3  # expect: ML508
    return first
