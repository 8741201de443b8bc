import pytest

from model import build


def test_build_needs_a_width():
    with pytest.raises(TypeError):
        build()


def old_and_new(depth):
    try:
        return build(3, depth=depth)
    except TypeError:
        return build(3)
