from torch import nn


def in_chunks(model: nn.Module, optimizer, loader, count):
    for batch in loader:
        optimizer.zero_grad()
        total, losses = 0.0, []
        for chunk in batch.chunk(count):
            loss = model(chunk).mean()
            losses.append(loss)
            loss.backward()
            total += loss
        optimizer.step()
        print(sum(losses).item(), total)


def two_networks(maker: nn.Module, judge: nn.Module, of_maker, of_judge, loader, count):
    for noise, images in loader:
        of_maker.zero_grad()
        judge(maker(noise)).mean().backward()
        of_maker.step()
        total = 0.0
        for _ in range(count):
            of_judge.zero_grad()
            loss = judge(images).mean() - judge(maker(noise).detach()).mean()
            loss.backward()
            of_judge.step()
            total += loss
        print(total / count)
