def stacked(frames, stride=2):
    length = frames.shape[1] - frames.shape[1] % stride
    return frames[:, :length].reshape(len(frames), length // stride, -1)
