import torch


def crop(image: torch.Tensor, size: int) -> torch.Tensor:
    return image[..., :size]


def small(image: torch.Tensor, size: int) -> torch.Tensor:
    return crop(size, image)  # expect: ML515


if __name__ == "__main__":
    print(crop(torch.ones(4, 4), 2))
