from lightning.pytorch.cli import LightningCLI

from tagger import Tagger

if __name__ == "__main__":
    LightningCLI(Tagger, run=False)
