import argparse

from omegaconf import OmegaConf

from tools import build


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", nargs="*", default=[])
    return parser.parse_known_args()


if __name__ == "__main__":
    options, unknown = parse()
    configs = [OmegaConf.load(path) for path in options.base]
    config = OmegaConf.merge(*configs, OmegaConf.from_dotlist(unknown))
    model = build(config.model)
    width, rate = config.model.params.widht, config.optimizer.rate  # expect: ML405
    print(model, width, rate, config.get("steps", 3))
