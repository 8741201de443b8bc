from counter import Counter, Digits
from lightning.pytorch.cli import LightningCLI


class OwnCLI(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.add_argument("--size", type=int, default=3)
        parser.link_arguments("data.clases", "model.classes")  # expect: ML405
        parser.link_arguments("sise", "model.width")  # expect: ML405


if __name__ == "__main__":
    OwnCLI(Counter, Digits)
