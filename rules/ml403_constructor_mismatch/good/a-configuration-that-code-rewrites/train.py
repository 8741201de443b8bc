import sys
from typing import Any

import yaml
from lightning.pytorch import LightningModule
from lightning.pytorch.cli import LightningCLI


def nested(section: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in section.items() if key != "class_path"}
    return {"class_path": section["class_path"], "init_args": rest}


def build(config: dict[str, Any]) -> LightningModule:
    return LightningCLI(LightningModule, subclass_mode_model=True, args=config, run=False).model


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        written = yaml.safe_load(file)
    print(build({**written, "model": nested(written["model"])}))
