import hydra
from hydra.utils import instantiate


@hydra.main(version_base=None, config_path="conf")
def main(cfg):
    print(instantiate(cfg.model))


if __name__ == "__main__":
    main()
