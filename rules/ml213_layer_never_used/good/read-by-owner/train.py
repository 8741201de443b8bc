from model import Block


def run(x):
    block = Block(3)
    return block.late(x)
