from decoder import Decoder
from model import Model
from wrapper import Wrapper


def build(width):
    decoder = Decoder(width, 100)
    return Model(Wrapper(decoder))
