import onnx


def check(path):
    onnx.checker.check_model(path)
