def train(engine, loader):
    for inputs, targets in loader:
        loss = engine(inputs, targets)
        engine.backward(loss)
        engine.step()
