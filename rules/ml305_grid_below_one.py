"""ML305: a side of an image that is rounded down to no patch at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.edits.python import written
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.graph.value import Op
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import GridEmpty
    from modellint.flow.domain import Site
    from modellint.flow.grids import Use
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.probes import Probe


class GridBelowOne(Rule):
    """A side of an image is rounded down to whole patches, and nothing keeps it from becoming 0

    ## What it does
    Follows the sizes that images are resized to and cut into patches with, back to the side of the image that they are
    computed from. It reports a side that is rounded down to a multiple (`side // patch * patch`,
    `floor(side / patch) * patch`) with no `max`, no comparison and no rounding up between the image and the grid.

    ## Why is this bad
    A side that is shorter than the divisor becomes 0: the grid has no rows or no columns, and the image fails in
    `resize` or `reshape`, or yields no token where the prompt expects some. Where a limit on the area scales the image
    first, it is the narrow side of a long image that vanishes.

    ## How to fix
    Keep one patch of an image that is resized: `max(patch, side // patch * patch)`. One that is cut only has to be
    enlarged first, or refused.

    ## References
    - Qwen2-VL: images with a side under 56 pixels, and the `max(factor, …)` that `smart_resize` has by now
    """

    code = "ML305"
    name = "grid-below-one"
    severity = Severity.WARNING
    triggers = ("def",)
    bad = (
        Example(
            "An image is resized to multiples of the patch, with a limit on its area alone",
            {
                "sizes.py": """\
import math


def fitting_size(height, width, factor=28, max_pixels=1_000_000):
    rows = math.ceil(height / factor) * factor
    columns = math.ceil(width / factor) * factor
    if rows * columns > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        rows = math.floor(height / shrink / factor) * factor  # expect: ML305
        columns = math.floor(width / shrink / factor) * factor  # expect: ML305
    return rows, columns
""",
                "processor.py": """\
import numpy as np

from sizes import fitting_size


class Processor:
    patch_size = 14
    merge_size = 2

    def preprocess(self, image):
        width, height = image.size
        rows, columns = fitting_size(height, width, factor=self.patch_size * self.merge_size)
        pixels = np.asarray(image.resize((columns, rows)))
        grid_h, grid_w = rows // self.patch_size, columns // self.patch_size
        return pixels.reshape(grid_h, self.patch_size, grid_w, self.patch_size, 3)
""",
            },
            changes=(
                (
                    "math.floor(height / shrink / factor) * factor",
                    "max(1, math.floor(height / shrink / factor)) * factor",
                ),
                (
                    "math.floor(width / shrink / factor) * factor",
                    "max(1, math.floor(width / shrink / factor)) * factor",
                ),
            ),
        ),
        Example(
            "Sides cut to whole patches",
            {
                "processor.py": """\
class Processor:
    def __init__(self, patch_size=16):
        self.patch_size = patch_size

    def preprocess(self, image):
        height, width = image.shape[-2:]
        height = height // self.patch_size * self.patch_size  # expect: ML305
        width = (width // self.patch_size) * self.patch_size  # expect: ML305
        image = image[..., :height, :width]
        rows, columns = height // self.patch_size, width // self.patch_size
        return image.reshape(-1, rows, self.patch_size, columns, self.patch_size)
""",
            },
        ),
        Example(
            "The size to resize to, in a class that cuts patches elsewhere",
            {
                "processor.py": """\
import torch.nn.functional as F


class Processor:
    patch = 14

    def resize(self, images):
        height, width = images.shape[2], images.shape[3]
        rows, columns = int(height / 28) * 28, int(width / 28) * 28  # expect: ML305
        return F.interpolate(images, size=(rows, columns))

    def patches(self, images):
        batch, channels, height, width = images.shape
        rows, columns = height // self.patch, width // self.patch
        return images.reshape(batch, channels, rows, self.patch, columns, self.patch)
""",
            },
            changes=(
                (
                    "int(height / 28) * 28, int(width / 28) * 28",
                    "max(1, int(height / 28)) * 28, max(1, int(width / 28)) * 28",
                ),
            ),
        ),
        Example(
            "A helper measures the image, another rounds",
            {
                "processor.py": """\
def get_size(image, channels_last):
    if channels_last:
        return image.shape[0], image.shape[1]
    return image.shape[1], image.shape[2]


def round_side(side, factor):
    return round(side / factor) * factor  # expect: ML305


def cut(image, factor, channels_last=False):
    height, width = get_size(image, channels_last)
    rows, columns = round_side(height, factor), round_side(width, factor)
    image = image.crop((0, 0, columns, rows))
    return image.reshape(3, rows // factor, factor, columns // factor, factor)
""",
            },
        ),
        Example(
            "What a division leaves is cut off",
            {
                "processor.py": """\
def preprocess(image, patch=14):
    width, height = image.size
    width -= width % patch  # expect: ML305
    height -= height % patch  # expect: ML305
    pixels = image.crop((0, 0, width, height)).pixels
    return pixels.reshape(height // patch, patch, width // patch, patch)
""",
            },
        ),
    )
    good = (
        Example(
            "One patch is kept",
            {
                "processor.py": """\
import math


def fitting_size(height, width, factor=28, max_pixels=1_000_000):
    rows = max(factor, round(height / factor) * factor)
    columns = max(factor, round(width / factor) * factor)
    if rows * columns > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        rows = max(factor, math.floor(height / shrink / factor) * factor)
        columns = max(factor, math.floor(width / shrink / factor) * factor)
    return rows, columns


def preprocess(image, patch=14):
    width, height = image.size
    rows, columns = fitting_size(height, width)
    pixels = image.resize((columns, rows)).pixels
    return pixels.reshape(rows // patch, patch, columns // patch, patch)
""",
            },
        ),
        Example(
            "What was rounded to 0 has too few pixels, and is enlarged",
            {
                "processor.py": """\
import math


def fitting_size(height, width, factor=28, min_pixels=3136):
    rows = round(height / factor) * factor
    columns = round(width / factor) * factor
    if rows * columns < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        rows = math.ceil(height * grow / factor) * factor
        columns = math.ceil(width * grow / factor) * factor
    return rows, columns


def preprocess(image, patch=14):
    width, height = image.size
    rows, columns = fitting_size(height, width)
    pixels = image.resize((columns, rows)).pixels
    return pixels.reshape(rows // patch, patch, columns // patch, patch)
""",
            },
        ),
        Example(
            "Images that are too small are refused",
            {
                "processor.py": """\
def preprocess(image, patch=16):
    height, width = image.shape[-2:]
    if min(height, width) < patch:
        raise ValueError("the image is smaller than a patch")
    rows, columns = height // patch * patch, width // patch * patch
    image = image[..., :rows, :columns]
    return image.reshape(3, rows // patch, patch, columns // patch, patch)
""",
            },
        ),
        Example(
            "Sides are rounded up",
            {
                "processor.py": """\
import numpy as np


def preprocess(image, patch=16):
    height, width = image.shape[-2:]
    rows, columns = (height + patch - 1) // patch * patch, -(-width // patch) * patch
    padded = np.zeros((3, rows, columns))
    padded[:, :height, :width] = image
    return padded.reshape(3, rows // patch, patch, columns // patch, patch)
""",
            },
        ),
        Example(
            "A model that is given images of one size cuts them into patches",
            {
                "model.py": """\
import torch
from torch import nn
import torch.nn.functional as F


class PatchEmbedding(nn.Module):
    def __init__(self, patch=16, width=768):
        super().__init__()
        self.patch = patch
        self.project = nn.Linear(3 * patch * patch, width)

    def forward(self, x):
        batch, channels, height, width = x.shape
        rows, columns = height // self.patch, width // self.patch
        x = x.reshape(batch, channels, rows, self.patch, columns, self.patch)
        return self.project(x.permute(0, 2, 4, 1, 3, 5).flatten(3))

    def enlarged(self, x):
        height, width = x.shape[-2:]
        x = F.interpolate(x, size=(height // self.patch * self.patch, width // self.patch * self.patch))
        return self(x)


def patchify(images, patch):
    rows = images.shape[2] // patch
    return images.reshape(len(images), 3, rows, patch, rows, patch)
""",
            },
        ),
        Example(
            "A helper of a model squeezes pairs of frames",
            {
                "model.py": """\
from torch import nn


def squeeze(x, frames=2):
    batch, channels, length = x.size()
    length = (length // frames) * frames
    x = x[:, :, :length]
    return x.view(batch, channels, length // frames, frames)


class Decoder(nn.Module):
    def forward(self, x):
        return squeeze(x)
""",
            },
        ),
        Example(
            "Sizes that a configuration gives",
            {
                "processor.py": """\
class Processor:
    def __init__(self, height=224, width=224, patch=16):
        self.height, self.width, self.patch = height, width, patch

    def preprocess(self, image):
        rows, columns = self.height // self.patch * self.patch, self.width // self.patch * self.patch
        image = image.resize((columns, rows))
        return image.reshape(3, rows // self.patch, self.patch, columns // self.patch, self.patch)
""",
            },
        ),
        Example(
            "The short side is scaled to a minimum first",
            {
                "processor.py": """\
def preprocess(image, shortest=224, patch=16):
    width, height = image.size
    scale = shortest / min(height, width)
    rows = int(height * scale) // patch * patch
    columns = int(width * scale) // patch * patch
    image = image.resize((columns, rows))
    return image.reshape(3, rows // patch, patch, columns // patch, patch)
""",
            },
        ),
        Example(
            "What is cut into patches as it is has whole ones, or fails",
            {
                "pipeline.py": """\
def cut(latents, patch):
    channels, height, width = latents.shape
    rows, columns = height // patch, width // patch
    return latents.reshape(channels, rows, patch, columns, patch), rows, columns


def joined(latents, patch):
    patches, rows, columns = cut(latents, patch)
    return patches.reshape(-1, rows * patch, columns * patch)
""",
            },
        ),
        Example(
            "Frames of a recording, which have one dimension",
            {
                "features.py": """\
def stacked(frames, stride=2):
    length = frames.shape[1] - frames.shape[1] % stride
    return frames[:, :length].reshape(len(frames), length // stride, -1)
""",
            },
        ),
        Example(
            "Rounded sides of what is no grid",
            {
                "processor.py": """\
def centre_crop(image, multiple=8):
    width, height = image.size
    return image.crop((0, 0, width // multiple * multiple, height // multiple * multiple))


def flatten(features, heads):
    length = features.shape[1]
    return features.reshape(len(features), length // heads, heads)
""",
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for use in project.grids.rounded_sides(module):
            yield self._report(use)

    def probe(self, claim: GridEmpty, project: Project) -> Probe | None:
        """Run what uses the size, else what computes it, with images that become smaller."""
        from modellint.probes import boundary_probe

        return boundary_probe(claim, project, [claim.used, claim.measured, claim.place])

    def _report(self, use: Use) -> Finding:
        from modellint.claims.positions import GridEmpty

        side, quotient, rounding = use.side, use.side.quotient, use.side.rounding
        assert quotient is not None
        assert rounding is not None
        module, place = rounding.module, rounding.place
        text = module.text_of(rounding.value)
        numerator, divisor = (quotient.module.text_of(part) for part in _operands(quotient))
        image = side.origin.module.text_of(side.origin.value)
        measured, used = side.origin.place, use.site.place
        return self.finding(
            place,
            f"`{text}` is 0 where `{numerator}` is below `{divisor}`: the grid of patches is empty",
            symbol=text,
            confidence=Confidence.MEDIUM,
            evidence=(
                f"the side is one of `{image}`, as large as the image happens to be",
                "no `max`, comparison or rounding up keeps it at one patch or more",
            ),
            related=(
                Related(measured, "the side is measured here"),
                Related(used, "the size is used here"),
            ),
            help=f"keep one patch: `max(1, {text})`" if use.is_resized_to else _TOO_SMALL,
            fix=Fix("Keep one patch", Applicability.UNSAFE, (Edit(place, f"max(1, {text})"),))
            if use.is_resized_to and written(rounding.value, module) is not None
            else None,
            claim=GridEmpty(place, measured, used),
        )


_TOO_SMALL = "enlarge an image that is smaller than one patch, or refuse it"


def _operands(quotient: Site) -> tuple[Value, Value]:
    """What is divided, and by what."""
    one, other = quotient.value.args
    return (one, other.args[1]) if quotient.value.data == "-" and other.op is Op.BIN else (one, other)
