import torch
from torch import nn
import torch.nn.utils.rnn
import torch.utils.data
import torch.utils.tensorboard


def devices(x):
    writer = torch.utils.tensorboard.SummaryWriter()
    return torch.npu.current_device(), torch.hub.list, nn.utils.rnn.pad_sequence([x]), nn.parameter.is_lazy(x), writer
