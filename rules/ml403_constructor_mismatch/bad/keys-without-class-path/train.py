from lightning.pytorch.cli import LightningCLI

from counter import Counter, Digits


def main():
    LightningCLI(Counter, datamodule_class=Digits, seed_everything_default=7)


if __name__ == "__main__":
    main()
