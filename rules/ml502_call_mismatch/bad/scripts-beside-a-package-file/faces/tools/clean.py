from learner import Learner


def clean(width):
    return Learner(width, inference=True).model  # expect: ML502
