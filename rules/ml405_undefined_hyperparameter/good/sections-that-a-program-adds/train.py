from lightning.pytorch.cli import LightningCLI
from tagger import Encoder, Tagger


class OwnCLI(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.add_argument("--notes.author", default="nobody")
        parser.add_class_arguments(Encoder, "other")
        for name in ("first", "second"):
            parser.add_argument(f"--{name}", type=int, default=1)


if __name__ == "__main__":
    OwnCLI(Tagger)
