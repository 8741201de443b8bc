from lightning.pytorch import LightningDataModule, LightningModule, cli


class LightningCLI(cli.LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.link_arguments("data.init_args.size", "model.init_args.size")
        parser.link_arguments("data.init_args.classes", "model.init_args.classes")
        parser.link_arguments("data.init_args.size", "model.init_args.trunk.init_args.size")


if __name__ == "__main__":
    LightningCLI(LightningModule, LightningDataModule, subclass_mode_model=True, subclass_mode_data=True)
