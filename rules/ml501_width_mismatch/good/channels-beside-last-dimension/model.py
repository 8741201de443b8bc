from torch import nn


class Interpreter(nn.Module):
    def __init__(self, frames=500):
        super().__init__()
        self.conv = nn.Conv1d(128, 64, 3, padding=1)
        self.along_time = nn.Linear(frames, 10)
        self.encode = nn.Linear(3, 32)
        self.norm = nn.BatchNorm1d(17)
        self.project = nn.Linear(64, 2)

    def forward(self, x, joints):
        x = self.conv(x)
        joints = self.norm(self.encode(joints))
        return self.along_time(x), self.project(x.transpose(1, 2)), joints
