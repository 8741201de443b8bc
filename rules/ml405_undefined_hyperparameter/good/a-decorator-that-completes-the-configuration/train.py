import hydra

from checked import complete


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
@complete(strict=True)
def main(cfg):
    print(cfg.rate, cfg.steps)


if __name__ == "__main__":
    main()
