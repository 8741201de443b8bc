import torch


def batches(x):
    for row in torch.unbind(x):
        print(row)
        yield row


async def fetched(x):
    print(x)


def run(x):
    for row in batches(x):
        print(row.shape)
    return fetched(x).send(None)
