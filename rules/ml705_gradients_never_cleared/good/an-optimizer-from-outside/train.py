def train(model, optimizer, loader):
    for inputs, targets in loader:
        loss = (model(inputs) - targets).square().mean()
        loss.backward()
        optimizer.step()


def built(model, loader, registry):
    optimizer = registry.build("adam", model.parameters())
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
