import hydra


def train(settings):
    for epoch in range(settings.epochs):
        print(epoch)


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    train(cfg.trainer)


if __name__ == "__main__":
    main()
