import hydra


@hydra.main(version_base=None, config_path="conf", config_name="small")
def main(cfg):
    print(cfg.net)


if __name__ == "__main__":
    main()
