import json
from pathlib import Path


def write(name, model, run):
    text = f"_base_ = {json.dumps([model, run])}\nwork_dir = {name!r}\n"
    Path("generated", f"{name}.py").write_text(text)


write("small", "../configs/models/net.py", "../configs/runs/night.py")
