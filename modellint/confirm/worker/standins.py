"""Stand-ins for imports that fail: a library that is not installed, or whose native part cannot be loaded.

Code that copes with a missing library itself (`try: import …`) must see it missing. So nothing is replaced before an
import has failed for good; then the library that failed is replaced, and the import is tried again.
"""

from __future__ import annotations

import importlib
import re
import sys
import traceback
import types
from collections.abc import Iterable
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pydoc import ErrorDuringImport
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Packages that failing imports pass through without being at fault.
_INNOCENT = frozenset(
    ("importlib", "torch", "ctypes", "worker", "runpy", "zipimport", "pkgutil", "hyperpyyaml", "pydoc")
)
_MAX_STANDINS = 40
#: A version that is new enough for every requirement.
_VERSION = "9999.0.0"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


_ANY = DistributionFinder.Context()


class StandInUsedError(RuntimeError):
    """Code needs the object behind a stand-in."""


class _StandInType(type(Protocol)):  # type: ignore[misc]  # what other bases may have for a metaclass, too
    """A class that has every attribute, so that it can be subclassed, called, or used as a function."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return stand_in(f"{cls.__qualname__}.{name}")

    def __getitem__(cls, key: Any) -> Any:
        return cls  # an annotation

    def register(cls, *args: Any, **kwargs: Any) -> Any:
        """Registering subclasses (as of `ABCMeta`) is an attribute like any other here."""
        return stand_in(f"{cls.__qualname__}.register")(*args, **kwargs)


class StandIn(metaclass=_StandInType):
    """An object of a library that could not be imported: it can be constructed and stored, but not used."""

    _is_protocol = _is_runtime_protocol = False
    #: Gives what stands for the result of an unknown call or for examples, by a name; None where nothing may.
    unknown: Callable[[str], Any] | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__dict__.get("_is_leaf") and len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType):
            return args[0]  # a decorator
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__["_wrapped"] = args[0] if len(args) == 1 else None

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the wrapped argument: a stand-in made of one iterable alone is taken for a progress bar."""
        if isinstance(wrapped := self.__dict__.get("_wrapped"), Iterable):
            return iter(wrapped)
        if StandIn.unknown is not None:
            return iter(StandIn.unknown(type(self).__qualname__.rpartition(".")[2]))
        raise StandInUsedError(f"`{type(self).__qualname__}` is needed, but could not be imported")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], type | types.FunctionType):
            return args[0]  # a decorator that was made for it
        if StandIn.unknown is not None:
            return StandIn.unknown(type(self).__qualname__.rpartition(".")[2])(*args, **kwargs)
        raise StandInUsedError(f"`{type(self).__qualname__}` is needed, but could not be imported")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return stand_in(f"{type(self).__qualname__}.{name}")

    def __getitem__(self, key: Any) -> Any:
        return stand_in(f"{type(self).__qualname__}[{key!r}]")()


def unwrapped(error: BaseException) -> BaseException:
    """The original error of an import by `pydoc.locate`."""
    return error.value if isinstance(error, ErrorDuringImport) and error.value is not None else error


def described(error: BaseException) -> str:
    """An exception on one line, without addresses, so that it is the same in each run."""
    text = _ADDRESS.sub("", " ".join(str(error).split()))
    if isinstance(error, MemoryError) and not text:
        text = _beyond_limit()
    kind = type(error).__name__
    return f"{kind}: {text[:300]}" if text else kind


def _beyond_limit() -> str:
    """The memory limit of the guard, in words, which a MemoryError does not name; empty if there is none."""
    try:
        import resource
    except ImportError:  # no POSIX
        return ""
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return "" if limit == resource.RLIM_INFINITY else f"used more than {limit / 2**30:g} GiB of memory"


def likeliest(reasons: Sequence[str]) -> str:
    """The most telling reason for an undecided probe, the earliest first.

    A reason why a call failed tells more than one why an object could not be built.
    """
    called = [reason for reason in reasons if not reason.startswith("building: ")]
    return next(iter(called or reasons), "no way to build or call it was found")


def stand_in(name: str) -> type[StandIn]:
    """A stand-in class for `name`."""
    return cast("type[StandIn]", _StandInType(name, (StandIn,), {"__qualname__": name, "_is_leaf": True}))


def is_derived(cls: type) -> bool:
    """True if a class is user code, though a base of it is a stand-in."""
    return "_is_leaf" not in cls.__dict__


class _Module(types.ModuleType):
    __version__ = _VERSION

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return stand_in(f"{self.__name__}.{name}")


class _Distribution(Distribution):
    """The metadata of a library that has a stand-in."""

    def __init__(self, name: str) -> None:
        self._said = f"Metadata-Version: 2.1\nName: {name}\nVersion: {_VERSION}\n"

    def read_text(self, filename: str) -> str | None:
        """The text of a metadata file; None for others than METADATA."""
        return self._said if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        """Files of the distribution do not exist; any path is good."""
        return path


class StandIns(DistributionFinder, Loader):
    """Answers imports of the libraries that failed, and of everything below them."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = list(names)

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        if any(fullname == name or fullname.startswith(f"{name}.") for name in self.names):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def find_distributions(self, context: DistributionFinder.Context = _ANY) -> Iterator[Distribution]:
        """The releases of the libraries that have stand-ins."""
        return (_Distribution(name) for name in self.names if name == context.name)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []

    def importing(self, load: Callable[[], Any]) -> Any:
        """The result of `load`, with stand-ins for the libraries that make it fail.

        Raises what `load` raises when the fault is not that of a library.
        """
        for _ in range(_MAX_STANDINS):
            before = set(sys.modules)
            try:
                return load()
            except (ImportError, OSError, RuntimeError, ErrorDuringImport) as error:
                reason = unwrapped(error)
                name = _culprit(reason)
                if name is None or name in self.names:
                    raise
                self.names.append(name)
                torn = _loading(reason) - _INNOCENT
                for loaded in [m for m in sys.modules if m not in before or m == name or m.startswith(f"{name}.")]:
                    # Modules that were loaded completely stay: those that register operators cannot be loaded twice.
                    if loaded == name or loaded.startswith(f"{name}.") or loaded.partition(".")[0] in torn:
                        sys.modules.pop(loaded)
        raise ImportError(f"more than {_MAX_STANDINS} libraries cannot be imported")

    def module(self, name: str) -> types.ModuleType:
        """Import a module by its name."""
        found: types.ModuleType = self.importing(lambda: importlib.import_module(name))
        return found


def _package_of(frame: types.FrameType) -> str:
    """The package whose code a frame runs."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _loading(error: BaseException | None) -> set[str]:
    """The packages that were being imported, or running, when an import failed."""
    found: set[str] = set()
    while error is not None:
        found.update(_package_of(frame) for frame, _ in traceback.walk_tb(error.__traceback__))
        error = error.__cause__ or error.__context__
    return found


def _culprit(error: BaseException) -> str | None:
    """The library whose import failed: the one that is not there, or the innermost one that was being loaded."""
    while error.__cause__ is not None and isinstance(error.__cause__, ImportError):
        error = error.__cause__
    if isinstance(error, ModuleNotFoundError) and error.name:
        top = error.name.partition(".")[0]
        return error.name if top in sys.modules and top not in _INNOCENT else top
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    begun = {_package_of(frame) for frame in frames if frame.f_code.co_name == "<module>"}
    for frame in reversed(frames):
        name = _package_of(frame)
        is_library = name not in _INNOCENT and name not in sys.stdlib_module_names
        # A package that fails in a call has been loaded.
        if name in begun and is_library and "site-packages" in frame.f_code.co_filename:
            return name
    return None
