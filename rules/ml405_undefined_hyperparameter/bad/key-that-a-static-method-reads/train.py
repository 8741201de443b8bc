import hydra


class Run:
    @staticmethod
    @hydra.main(version_base="1.3", config_path="conf", config_name="train")
    def main(cfg):
        print(cfg.seed, cfg.epoch)  # expect: ML405


if __name__ == "__main__":
    Run.main()
