from hydra import compose, initialize


def load():
    with initialize(version_base="1.3", config_path="conf"):
        return compose(config_name="config")
