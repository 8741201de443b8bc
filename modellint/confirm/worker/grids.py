"""Images that are too small, or too narrow, for a single patch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from .calls import Call, is_refusal
from .places import Spot
from .standins import described
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.claims.positions import GridEmpty

    from .calls import CallRun, Specs
    from .session import Session
    from .specs import Spec

#: A side that is long enough for every grid, and one so long that a limit on the area shrinks the other.
_ENOUGH, _LONG = 1024, 40_000
_IMAGE = re.compile(r"image|img|picture|photo|frame|pixel|video|^x$|^inputs?$")
_HEIGHT, _WIDTH = re.compile(r"^h$|height|^rows$"), re.compile(r"^w$|width|^col")
_SIDE = re.compile(r"^(?:side|size|length)$")

#: The height and the width of an image by the side that becomes small.
_SHAPES: tuple[Callable[[int], tuple[int, int]], ...] = (
    lambda side: (side, side),
    lambda side: (side, _LONG),
    lambda side: (_LONG, side),
)


class Picture:
    """An image as libraries for images have it, without its pixels."""

    def __init__(self, width: int, height: int, *, is_first: bool = True) -> None:
        self.width, self.height = width, height
        self.size = (width, height)
        self.mode = "RGB"
        self.ndim = 3
        self._is_first = is_first

    @property
    def shape(self) -> tuple[int, ...]:
        return (3, self.height, self.width) if self._is_first else (self.height, self.width, 3)

    @property
    def pixels(self) -> torch.Tensor:
        return torch.zeros(()).expand(self.shape)

    def convert(self, *_: Any, **__: Any) -> Picture:
        return self

    def resize(self, size: Any, *_: Any, **__: Any) -> Picture:
        width, height = size
        if width < 1 or height < 1:
            raise ValueError("height and width must be > 0")
        return Picture(int(width), int(height), is_first=self._is_first)

    def crop(self, box: Any) -> Picture:
        left, upper, right, lower = box
        return Picture(int(right - left), int(lower - upper), is_first=self._is_first)

    def reshape(self, *shape: Any) -> torch.Tensor:
        return self.pixels.reshape(*shape)

    def __getitem__(self, index: Any) -> torch.Tensor:
        return self.pixels[index]

    def __array__(self, *_: Any, **__: Any) -> Any:
        return torch.zeros(self.height, self.width, 3, dtype=torch.uint8).numpy()


@dataclass(frozen=True)
class _Way:
    """One way to pass an image of some size to a function: the arguments, and their types."""

    names: tuple[str, ...]
    values: Callable[[int, int], tuple[Any, ...]]

    def make(self, height: int, width: int) -> dict[str, Any]:
        return dict(zip(self.names, self.values(height, width), strict=True))


def grid(session: Session, claim: GridEmpty) -> Verdict:
    """Call with ever smaller images: confirmed if a side rounded down to 0 gives an error or an empty result."""
    reasons: list[str] = []
    least: list[int] = []
    spot = Spot.of(claim.place)
    for path, name in session.functions:
        source = session.load(path)
        owner, method = source.split(name)
        for attempt in session.attempts(owner, source=source):
            try:
                call = Call(attempt, method, None, session.observed, spot)
            except Exception as error:
                reasons.append(f"building `{owner}`: {described(error)}")
                continue
            outcome = _verdict_of_calls(call, name, reasons, least)
            if outcome is not None:
                return outcome
    if least and min(least) > 0:
        detail = f"of images with a side of 1 the size becomes {min(least)} there, never 0"
        return refuted(detail)
    return unconfirmed(reasons[0] if reasons else "no way to call it was found")


def _verdict_of_calls(call: Call, name: str, reasons: list[str], least: list[int]) -> Verdict | None:
    """The verdict of calls with ever smaller images; None if they decide nothing.

    The observed sides of the smallest images are added to `least`.
    """
    for way in _ways(call.inputs().candidates):
        inputs = call.inputs()
        for taken in way.names:
            inputs.candidates.pop(taken)
        for specs in inputs.combinations():
            enough = call.run(specs, way.make(_ENOUGH, _ENOUGH))
            if enough.error is not None:
                reasons.append(f"calling `{name}`: {described(enough.error)[:200]}")
                inputs.learn(enough.error, specs)
                continue
            for shape in _SHAPES:
                least += call.run(specs, way.make(*shape(1))).sizes
                outcome = _at_edge(call, specs, way, shape, reasons)
                if outcome is not None:
                    return outcome
    return None


def _at_edge(
    call: Call, specs: Specs, way: _Way, shape: Callable[[int], tuple[int, int]], reasons: list[str]
) -> Verdict | None:
    """The verdict of the smallest image with a patch and the next smaller one, of one shape of images."""

    def run(side: int) -> CallRun:
        return call.run(specs, way.make(*shape(side)))

    if not _is_empty(run(1)):
        return None
    none, some = 1, 2
    while some <= _ENOUGH and _is_empty(run(some)):
        none, some = some, 2 * some
    while some - none > 1:
        middle = (none + some) // 2
        none, some = (middle, some) if _is_empty(run(middle)) else (none, middle)
    below, above = run(none), run(some)
    if is_refusal(below.error):
        reasons.append(f"an image of {_size(shape(none))} is refused: {below.said}")
        return None
    if above.error is not None and above.said == below.said:
        reasons.append(f"an image of {_size(shape(some))}: {above.said}")
        return None
    if below.error is None and not _is_nothing(below.result):
        reasons.append(f"an image of {_size(shape(none))} passes")
        return None
    outcome = below.said or f"it returns {_result(below.result)}"
    fact = f"an image of {_size(shape(some))} gets a grid; of one of {_size(shape(none))}, a side becomes 0: {outcome}"
    call.note(specs)
    return confirmed(fact)


def _size(shape: tuple[int, int]) -> str:
    height, width = shape
    return f"{height} x {width}"


def _is_empty(run: CallRun) -> bool:
    """True if the observed side became 0."""
    return any(not isinstance(value, torch.Tensor) and int(value) == 0 for value in run.values)


def _is_nothing(result: Any) -> bool:
    """True if a result is an image, tensor or size without pixels."""
    if isinstance(result, list | tuple):
        return any(map(_is_nothing, result))
    if isinstance(result, Picture):
        return not (result.width and result.height)
    return 0 in getattr(result, "shape", ()) or (type(result) is int and result == 0)


def _result(result: Any) -> str:
    return repr(result) if isinstance(result, int | tuple) else f"a result of the shape {tuple(result.shape)}"


def _ways(candidates: dict[str, list[Spec]]) -> Iterator[_Way]:
    """How the parameters of a function could take an image, the likeliest first."""
    image = next((name for name in candidates if _IMAGE.search(name.lower())), None)
    if image is not None:
        for make in (_picture, _channels_first, _batch, _channels_last):
            yield _Way((image,), make)
    heights = [name for name in candidates if _HEIGHT.search(name.lower())]
    widths = [name for name in candidates if _WIDTH.search(name.lower())]
    yield from (_Way((height, width), _numbers) for height, width in zip(heights, widths, strict=False))
    for name in candidates:
        if _SIDE.search(name.lower()):
            yield _Way((name,), _side)


def _picture(height: int, width: int) -> tuple[Any, ...]:
    return (Picture(width, height),)


def _channels_first(height: int, width: int) -> tuple[Any, ...]:
    return (torch.zeros(()).expand(3, height, width),)


def _channels_last(height: int, width: int) -> tuple[Any, ...]:
    return (torch.zeros(()).expand(height, width, 3),)


def _batch(height: int, width: int) -> tuple[Any, ...]:
    return (torch.zeros(()).expand(1, 3, height, width),)


def _numbers(height: int, width: int) -> tuple[Any, ...]:
    return height, width


def _side(height: int, width: int) -> tuple[Any, ...]:
    return (min(height, width),)
