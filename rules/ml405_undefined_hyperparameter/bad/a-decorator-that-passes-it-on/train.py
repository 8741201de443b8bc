import hydra

from timed import timed


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
@timed
def main(cfg):
    print(cfg.rate, cfg.steps)  # expect: ML405


if __name__ == "__main__":
    main()
