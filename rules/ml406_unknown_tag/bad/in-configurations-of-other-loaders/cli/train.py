from lightning.pytorch.cli import LightningCLI

from task import Task

if __name__ == "__main__":
    LightningCLI(Task)
