import hydra
from hydra.utils import instantiate


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(cfg):
    print(instantiate(cfg.model), cfg.steps)  # expect: ML405


if __name__ == "__main__":
    main()
