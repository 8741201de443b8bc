from learner import Learner


def train(width):
    return Learner(width).model
