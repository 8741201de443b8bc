import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return torch.relu(self.fc(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def forward(self, x):
        return self.fc(x)


def both(loader):
    encoder, decoder = Encoder(), Decoder()
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
    for x in loader:
        loss = F.mse_loss(decoder(encoder(x)), x)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def adversarial(loader):
    encoder, decoder = Encoder(), Decoder()
    one = torch.optim.Adam(encoder.parameters())
    other = torch.optim.Adam(decoder.parameters())
    for x in loader:
        F.mse_loss(decoder(encoder(x)), x).backward()
        one.step()
        other.step()


def frozen(loader):
    encoder = Encoder()
    decoder = Decoder()
    decoder.requires_grad_(False)
    loaded = Decoder()
    loaded.load_state_dict(torch.load("decoder.pt"))
    quiet = Decoder().eval()
    by_hand = Decoder()
    for p in by_hand.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(encoder.parameters())
    for x in loader:
        code = encoder(x)
        loss = F.mse_loss(decoder(code) + loaded(code) + quiet(code) + by_hand(code), x)
        loss.backward()
        optimizer.step()


def teacher(loader):
    student = Encoder()
    target, judge = Encoder(), Encoder()
    optimizer = torch.optim.Adam(student.parameters())
    for x in loader:
        with torch.no_grad():
            wanted = target(x)
        loss = F.mse_loss(student(x), wanted) + F.mse_loss(student(x), judge(x).detach())
        loss.backward()
        optimizer.step()


def passed_on(loader, trainer):
    encoder, decoder = Encoder(), Decoder()
    trainer.add(decoder)
    optimizer = torch.optim.Adam(encoder.parameters())
    for x in loader:
        F.mse_loss(decoder(encoder(x)), x).backward()
        optimizer.step()


def held(loader):
    encoder, decoder = Encoder(), Decoder()
    model = nn.Sequential(encoder, decoder)
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        F.mse_loss(decoder(encoder(x)), x).backward()
        optimizer.step()
