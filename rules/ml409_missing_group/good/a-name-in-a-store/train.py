import hydra
from hydra.core.config_store import ConfigStore
from hydra.utils import instantiate


ConfigStore.instance().store(group="optim", name="adam", node={"lr": 0.1})


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    net = instantiate(cfg.net)
    print(net)


if __name__ == "__main__":
    main()
