def finish(optimizer, scheduler, loss):
    optimizer.zero_grad()
    loss.backward()
    scheduler.step()  # expect: ML708
    optimizer.step()
