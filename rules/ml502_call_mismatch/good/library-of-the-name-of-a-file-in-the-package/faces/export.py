from .onnx import load


def export(path):
    return load(path).eval()
