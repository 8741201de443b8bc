import hydra
from hydra.utils import instantiate


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    metrics = instantiate(cfg.metrics)
    callbacks = instantiate(cfg.callbacks)
    trainer = instantiate(cfg.trainer, callbacks=list(callbacks.values()))
    print(metrics, trainer)


if __name__ == "__main__":
    main()
