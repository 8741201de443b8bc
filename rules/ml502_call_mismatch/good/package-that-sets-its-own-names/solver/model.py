from .backend import fast, slow


def loss_of(losses):
    return fast.total(losses) + slow.total(losses)
