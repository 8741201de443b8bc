import onnx


def convert(path):
    return onnx.load(path, load_external_data=False)
