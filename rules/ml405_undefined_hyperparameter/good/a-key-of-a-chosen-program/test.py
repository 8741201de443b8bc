import hydra
from hydra.utils import instantiate


@hydra.main(version_base="1.3", config_path="conf", config_name="test")
def main(cfg):
    print(instantiate(cfg.model), cfg.model)


if __name__ == "__main__":
    main()
