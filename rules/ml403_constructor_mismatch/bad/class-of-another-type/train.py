from jsonargparse import ArgumentParser

from tagger import Model

if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--config", action="config")
    parser.add_subclass_arguments(Model, "model")
    parser.add_argument("--epochs", type=int, default=3)
    print(parser.parse_args())
