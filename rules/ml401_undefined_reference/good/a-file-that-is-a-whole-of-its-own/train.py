import hydra


@hydra.main(version_base=None, config_path="conf", config_name="base")
def main(cfg):
    print(cfg.model.width_processor)


if __name__ == "__main__":
    main()
