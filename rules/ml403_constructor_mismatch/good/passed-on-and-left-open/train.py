from lightning.pytorch.cli import LightningCLI
from models import Base

if __name__ == "__main__":
    LightningCLI(Base, subclass_mode_model=True, auto_configure_optimizers=False)
