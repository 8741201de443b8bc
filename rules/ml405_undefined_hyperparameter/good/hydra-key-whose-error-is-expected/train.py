import hydra


def train(settings):
    try:
        print(settings.epochs)
    except Exception:
        print(0)


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    train(cfg.trainer)


if __name__ == "__main__":
    main()
