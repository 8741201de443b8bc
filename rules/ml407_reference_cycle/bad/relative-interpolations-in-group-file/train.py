import os
import sys

import hydra
from hydra.utils import instantiate


def run(folder):
    @hydra.main(version_base="1.3", config_path=folder, config_name="train")
    def main(cfg):
        print(instantiate(cfg.data))

    main()


if __name__ == "__main__":
    run(os.path.abspath(sys.argv.pop(1)))
