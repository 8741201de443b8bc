import hydra
import lightning.pytorch as pl

from nets import Net


def make(settings):
    return Net(4, **settings.net)


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    cfg.model.net.classes = 3
    trainer = pl.Trainer(**cfg.trainer)
    print(trainer, make(cfg.model))
    if "extra" in cfg:
        print(Net(**cfg.extra))
    options = dict(cfg.options)
    options["classes"] = 3
    print(Net(**options), Net(**cfg.rest, classes=2))


if __name__ == "__main__":
    main()
