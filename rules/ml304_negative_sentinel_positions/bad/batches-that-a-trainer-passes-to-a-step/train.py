import pytorch_lightning as pl

from data import Data
from model import Tagger


def main(rows):
    trainer = pl.Trainer(max_epochs=1)
    trainer.fit(Tagger(), Data(rows))
