import hydra
from hydra.utils import instantiate


class Run:
    @staticmethod
    @hydra.main(version_base="1.3", config_path="conf", config_name="train")
    def main(cfg):
        print(instantiate(cfg.data))


if __name__ == "__main__":
    Run.main()
