def concatenated(model, batch):
    chosen, rejected = model(batch)
    return chosen, rejected, chosen - rejected


def forward(model, batch):
    return concatenated(model, batch)


def loss(model, batch, is_plain):
    chosen, rejected = forward(model, batch)  # expect: ML508
    if is_plain:
        result = (chosen, rejected)
    else:
        result = (chosen, rejected)
    a, b, c = result  # expect: ML508
    return a - b
