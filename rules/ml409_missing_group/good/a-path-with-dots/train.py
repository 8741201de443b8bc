import hydra


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    print(cfg.net, cfg.steps)


if __name__ == "__main__":
    main()
