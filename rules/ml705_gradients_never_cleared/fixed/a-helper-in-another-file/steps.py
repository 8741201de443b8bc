def improve(net, solver, batch):
    cost = net(batch).square().mean()
    solver.zero_grad()
    cost.backward()
    solver.step()  # expect: ML705
    return float(cost)
