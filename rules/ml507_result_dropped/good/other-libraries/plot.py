import matplotlib.pyplot as plt
import torch.distributed as dist


def show(ax, xs, ys, parts):
    plt.scatter(xs, ys)
    ax.scatter(xs, ys)
    dist.scatter(xs, parts)
    ax.view(3)
    ax.clamp(3)
