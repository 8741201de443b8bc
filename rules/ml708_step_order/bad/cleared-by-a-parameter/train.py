def train(model, criterion, optimizer, loader):
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.zero_grad()  # expect: ML708
        print(loss.item())
        optimizer.step()
