import hydra
from hydra.utils import instantiate


@hydra.main(version_base="1.3", config_path="/home/someone/project/conf/", config_name="config")
def main(cfg):
    net = instantiate(cfg.net)
    print(net)


if __name__ == "__main__":
    main()
