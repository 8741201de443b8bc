import os

import hydra
import yaml

yaml.SafeLoader.add_constructor("!env", lambda loader, node: os.environ[node.value])


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    print(cfg.seed)


if __name__ == "__main__":
    main()
