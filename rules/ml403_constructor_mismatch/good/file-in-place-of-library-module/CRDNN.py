import speechbrain as sb
import torch


class CRDNN(sb.nnet.containers.Sequential):
    """Copy this file over that of the library."""

    def __init__(self, input_shape, dense_layers=(6, 12), activation=torch.nn.LeakyReLU):
        super().__init__(input_shape=input_shape)
        for number in dense_layers:
            self.append(torch.nn.Linear(number, number), layer_name=f"dense{number}")
