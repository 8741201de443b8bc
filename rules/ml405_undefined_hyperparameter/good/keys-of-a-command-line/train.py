import argparse

from omegaconf import OmegaConf

from tools import build


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", nargs="*", default=[])
    return parser.parse_known_args()


def main(options, unknown):
    configs = [OmegaConf.load(path) for path in options.base]
    config = OmegaConf.merge(*configs, OmegaConf.from_dotlist(unknown))
    extras = config.pop("extras", OmegaConf.create())
    model = build(config.model)
    rate = config.optimizer.rate
    return model, rate, [build(extras.parts[name]) for name in extras.parts], config.steps


if __name__ == "__main__":
    main(*parse())
