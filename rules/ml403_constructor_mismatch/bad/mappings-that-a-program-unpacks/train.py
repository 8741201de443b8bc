import hydra
import lightning.pytorch as pl

from nets import Net


def make(settings):
    return Net(4, **settings.net)


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    trainer = pl.Trainer(**cfg.trainer)
    print(trainer, make(cfg.model))


if __name__ == "__main__":
    main()
