from counter import Counter, Digits
from lightning.pytorch.cli import LightningCLI


class OwnCLI(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.add_argument("--title", default="run")
        parser.link_arguments("data.classes", "model.classes", apply_on="instantiate")
        parser.set_defaults({"model.rate": 0.1})


if __name__ == "__main__":
    OwnCLI(Counter, Digits)
