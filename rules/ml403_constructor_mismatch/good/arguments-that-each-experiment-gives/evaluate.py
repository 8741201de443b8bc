import hydra
from hydra.utils import instantiate


@hydra.main(version_base=None, config_path="conf", config_name="train")
def main(cfg):
    print(instantiate(cfg.model).eval())


if __name__ == "__main__":
    main()
