def improve(net, solver, batch):
    cost = net(batch).square().mean()
    cost.backward()
    solver.step()  # expect: ML705
    return float(cost)
