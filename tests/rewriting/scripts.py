"""The code beside a recipe, written in another way: how it loads the recipe, and how it gets at what is in it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rewriting import layout
from rewriting.rewriting import Kind, Rewriting, changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from rewriting.marks import Files

_LOADER = "load_hyperpyyaml"
_IMPORT = "from hyperpyyaml import load_hyperpyyaml\n"
_MAIN = 'if __name__ == "__main__":\n'
_ARGUMENTS = "    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])\n"
_OPEN = "    with open(hparams_file) as fin:\n"
_LOAD = "load_hyperpyyaml(fin, overrides)"
_LOADING = f"{_OPEN}        hparams = {_LOAD}\n"
_PARAMETERS = ("modules", "opt_class", "hparams", "run_opts", "checkpointer")


def _scripts(change: Callable[[str], str]) -> Callable[[Files], dict[str, str] | None]:
    """A rewriting of the files that load a recipe."""

    def rewrite(files: Files) -> dict[str, str] | None:
        loading = {path: text for path, text in files.items() if path.endswith(".py") and _IMPORT in text}
        return changed(files, {**files, **{path: change(text) for path, text in loading.items()}})

    return rewrite


def _replaced(*pairs: tuple[str, str]) -> Callable[[Files], dict[str, str] | None]:
    """A rewriting of scripts that have all of some texts."""

    def change(text: str) -> str:
        if not all(old in text for old, _ in pairs):
            return text
        for old, new in pairs:
            text = text.replace(old, new)
        return text

    return _scripts(change)


def _loading(new: str, *, imports: str = _IMPORT, above: str = "") -> Callable[[Files], dict[str, str] | None]:
    """A rewriting of how a recipe is loaded: the statements, the import, and what stands above the main part."""
    return _replaced((_LOADING, new), (_IMPORT, imports), (_MAIN, above + _MAIN))


def _with_file(name: str, content: str, new: str, imports: str) -> Callable[[Files], dict[str, str] | None]:
    """A rewriting that loads the recipe by a function of another file."""

    def rewrite(files: Files) -> dict[str, str] | None:
        result = _loading(new, imports=imports)(files)
        if result is None:
            return None
        folders = {path.rpartition("/")[0] for path in files if files[path] != result[path]}
        return {**result, **{f"{folder}/{name}".lstrip("/"): content for folder in folders}}

    return rewrite


def _main(text: str) -> str:
    """The main part as a function."""
    before, main, after = text.partition(_MAIN)
    return f"{before}def main():\n{after}\n\n{_MAIN}    main()\n" if main and _ARGUMENTS in after else text


def _in_parts(text: str) -> str:
    """What is done with the recipe in a function that is given it."""
    before, main, after = text.partition(_MAIN)
    head, loading, rest = after.partition(_LOADING)
    if not loading:
        return text
    return f"{before}def train(hparams, run_opts):\n{rest}\n\n{main}{head}{loading}    train(hparams, run_opts)\n"


def _at_top(text: str) -> str:
    """The main part without a condition."""
    before, main, after = text.partition(_MAIN)
    return before + re.sub(r"(?m)^    ", "", after) if main else text


def _named(name: str) -> Callable[[str], str]:
    """The recipe's keys under another name in the main part."""

    def change(text: str) -> str:
        before, main, after = text.partition(_MAIN)
        return before + main + re.sub(r"(?<![\w.])hparams(?!\w|=)", name, after)

    return change


def _entries_first(text: str) -> str:
    """What the main part takes of the recipe, by locals."""
    before, main, after = text.partition(_MAIN)
    head, loading, rest = after.partition(_LOADING)
    if not loading or " in hparams" in rest or re.search(r"hparams\[.*\] =|# mark|hparams\[.*\]\[", rest):
        return text
    names = dict.fromkeys(re.findall(r'hparams\["(\w+)"\]', rest))
    rest = re.sub(r'hparams\["(\w+)"\]', r"the_\1", rest)
    return before + main + head + loading + "".join(f'    the_{n} = hparams["{n}"]\n' for n in names) + rest


def _brain(arguments: Callable[[list[tuple[str, str]]], tuple[str, str]]) -> Callable[[str], str]:
    """The arguments of the Brain in another way: what stands in its brackets, and on the lines before."""

    def change(text: str) -> str:
        match = re.search(r"(?m)^    model = Model\(([^()]*)\)$", text)
        if match is None:
            return text
        given = [tuple(part.strip().split("=", 1)) for part in match[1].split(",") if part.strip()]
        inside, before = arguments(given)  # type: ignore[arg-type]
        return f"{text[: match.start()]}{before}    model = Model({inside}){text[match.end() :]}"

    return change


def _by_position(given: list[tuple[str, str]]) -> tuple[str, str]:
    values = dict(given)
    last = max(_PARAMETERS.index(name) for name in values)
    return ", ".join(values.get(name, "None") for name in _PARAMETERS[: last + 1]), ""


def _reversed(given: list[tuple[str, str]]) -> tuple[str, str]:
    return ", ".join(f"{name}={value}" for name, value in reversed(given)), ""


def _by_locals(given: list[tuple[str, str]]) -> tuple[str, str]:
    before = "".join(f"    given_{name} = {value}\n" for name, value in given if name != value)
    return ", ".join(f"{name}={value if name == value else f'given_{name}'}" for name, value in given), before


def _by_dict(given: list[tuple[str, str]]) -> tuple[str, str]:
    entries = ", ".join(f'"{name}": {value}' for name, value in given)
    return "**arguments", f"    arguments = {{{entries}}}\n"


def _lines(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of the code before the main part."""

    def changed_text(text: str) -> str:
        before, main, after = text.partition(_MAIN)
        return change(before) + main + after if main else text

    return changed_text


def _uses(pattern: str, new: str) -> Callable[[str], str]:
    """Another way to read something, where it is only read."""
    regular = re.compile(pattern + r"(?!\w)(?!\s*[-+*/|]?=[^=])")
    return _lines(lambda text: regular.sub(new, text))


def _by_local(owner: str, name: str) -> Callable[[str], str]:
    """`self.modules` by a local of each method that reads it."""

    def change(text: str) -> str:
        parts = re.split(r"(?m)^(    def \w+\(self[^\n]*:\n)", text)
        for i in range(2, len(parts), 2):
            body = parts[i]
            if f"{owner}." in body and f"{owner} =" not in body and name not in body.replace(f"self.{name}", ""):
                parts[i] = f"        {name} = {owner}\n" + body.replace(f"{owner}.", f"{name}.")
        return "".join(parts)

    return _lines(change)


def _script(name: str, change: Callable[[str], str] | Callable[[Files], dict[str, str] | None]) -> Rewriting:
    return Rewriting(f"scripts: {name}", Kind.SCRIPT, change, only=("ML",))  # type: ignore[arg-type]


_READ = """\
def read(path, overrides):
    with open(path) as fin:
        return load_hyperpyyaml(fin, overrides)


"""
_READ_LOCAL = """\
def read(path, overrides=None):
    stream = open(path)
    keys = load_hyperpyyaml(stream, overrides)
    stream.close()
    return keys


"""
_READ_STREAM = """\
def read(stream, more):
    keys = load_hyperpyyaml(stream, overrides=more)
    return keys


"""
_READ_TWICE = f"""\
{_READ}def read_again(path, overrides):
    keys = read(path, overrides)
    return keys


"""
_READ_METHOD = """\
class Reader:
    def read(self, path, overrides):
        with open(path) as fin:
            return load_hyperpyyaml(fin, overrides)


"""
_OPENED = """\
def opened(path):
    return open(path, encoding="utf-8")


"""
_READ_NESTED = f"""\
    def read(path):
        with open(path) as fin:
            return {_LOAD}

"""
_READING = f"import speechbrain as sb\n{_IMPORT}\n\n{_READ_LOCAL}".rstrip() + "\n"
_CALL = "    hparams = read(hparams_file, overrides)\n"

#: There are no numbers in these scripts that could have other digits.
_LAYOUTS = (each for each in layout.REWRITINGS if each.name != "numbers with other digits")

REWRITINGS = (
    *(replace(each, name=f"scripts: {each.name}", only=("ML4",)) for each in _LAYOUTS),
    _script("loaded by keyword", _replaced((_LOAD, "load_hyperpyyaml(yaml_stream=fin, overrides=overrides)"))),
    _script("loaded by a tuple", _replaced((_LOAD, "load_hyperpyyaml(*(fin, overrides))"))),
    _script(
        "the loader under another name",
        _replaced((_IMPORT, _IMPORT.replace("\n", " as read_keys\n")), (_LOAD, "read_keys(fin, overrides)")),
    ),
    _script("the loader by its module", _replaced((_IMPORT, "import hyperpyyaml\n"), (_LOAD, f"hyperpyyaml.{_LOAD}"))),
    _script(
        "the loader by another name of its module",
        _replaced((_IMPORT, "import hyperpyyaml as hp\n"), (_LOAD, f"hp.{_LOAD}")),
    ),
    _script(
        "the loader by the module that defines it",
        _replaced((_IMPORT, _IMPORT.replace("hyperpyyaml ", "hyperpyyaml.core "))),
    ),
    _script(
        "the loader by a local",
        _loading(f"    load = load_hyperpyyaml\n{_OPEN}        hparams = load(fin, overrides)\n"),
    ),
    _script(
        "the loader by a global",
        _loading(f"{_OPEN}        hparams = LOAD(fin, overrides)\n", above="LOAD = load_hyperpyyaml\n\n\n"),
    ),
    _script(
        "the loader by functools.partial",
        _loading(
            f"    load = functools.partial({_LOADER}, overrides=overrides)\n{_OPEN}        hparams = load(fin)\n",
            imports=f"import functools\n\n{_IMPORT}",
        ),
    ),
    _script("loaded by a function", _loading(_CALL, above=_READ)),
    _script("loaded by a function with a local", _loading(_CALL, above=_READ_LOCAL)),
    _script(
        "loaded by a function that is given the stream",
        _loading(f"{_OPEN}        hparams = read(fin, overrides)\n", above=_READ_STREAM),
    ),
    _script(
        "loaded by a function of a function",
        _loading("    hparams = read_again(hparams_file, overrides)\n", above=_READ_TWICE),
    ),
    _script(
        "loaded by a function with keywords",
        _loading("    hparams = read(overrides=overrides, path=hparams_file)\n", above=_READ),
    ),
    _script(
        "loaded by a method", _loading("    hparams = Reader().read(hparams_file, overrides)\n", above=_READ_METHOD)
    ),
    _script(
        "loaded by a lambda",
        _loading(
            f"    read = lambda stream: load_hyperpyyaml(stream, overrides)\n{_OPEN}        hparams = read(fin)\n"
        ),
    ),
    _script(
        "loaded by a nested function",
        _loading(f"{_READ_NESTED}    hparams = read(hparams_file)\n"),
    ),
    _script(
        "loaded by a function of another file", _with_file("reading.py", _READING, _CALL, "from reading import read\n")
    ),
    _script(
        "loaded by another file",
        _with_file("reading.py", _READING, _CALL.replace("read(", "reading.read("), "import reading\n"),
    ),
    _script(
        "opened in a function",
        _loading(f"    hparams = {_LOAD.replace('fin', 'opened(hparams_file)')}\n", above=_OPENED),
    ),
    _script(
        "opened in the call", _replaced((_LOADING, f"    hparams = {_LOAD.replace('fin', 'open(hparams_file)')}\n"))
    ),
    _script(
        "opened before",
        _replaced((_LOADING, f"    fin = open(hparams_file)\n    hparams = {_LOAD}\n    fin.close()\n")),
    ),
    _script(
        "read as text",
        _loading(
            f"    hparams = {_LOAD.replace('fin', 'Path(hparams_file).read_text()')}\n",
            imports=f"from pathlib import Path\n\n{_IMPORT}",
        ),
    ),
    _script("a local first", _replaced((_LOADING, f"{_OPEN}        keys = {_LOAD}\n    hparams = keys\n"))),
    _script("annotated", _replaced((f"hparams = {_LOAD}", f"hparams: dict = {_LOAD}"))),
    _script("two targets", _replaced((f"hparams = {_LOAD}", f"hparams = keys = {_LOAD}"))),
    _script("unpacked", _replaced((f"hparams = {_LOAD}", f"hparams, path = {_LOAD}, hparams_file"))),
    _script("a walrus", _replaced((f"hparams = {_LOAD}", f"print(len(hparams := {_LOAD}))"))),
    _script("None at first", _replaced((_LOADING, f"    hparams = None\n{_LOADING}"))),
    _script(
        "in try",
        _replaced(
            (
                _LOADING,
                f"    try:\n{re.sub('(?m)^', '    ', _LOADING.rstrip())}\n    finally:\n        print(hparams_file)\n",
            )
        ),
    ),
    _script("the main part in a function", _scripts(_main)),
    _script("the recipe given to a function", _scripts(_in_parts)),
    _script("the main part without a condition", _scripts(_at_top)),
    _script("keys called `h`", _scripts(_named("h"))),
    _script("keys called `config`", _scripts(_named("config"))),
    _script("entries by locals", _scripts(_entries_first)),
    _script(
        "entries by `get`",
        _scripts(
            lambda text: re.sub(
                r'(?<=[(=])hparams\["(modules|opt_class|checkpointer|epoch_counter)"\]', r'hparams.get("\1")', text
            )
        ),
    ),
    _script("arguments of the Brain by position", _scripts(_brain(_by_position))),
    _script("arguments of the Brain in another order", _scripts(_brain(_reversed))),
    _script("arguments of the Brain by locals", _scripts(_brain(_by_locals))),
    _script("arguments of the Brain by a dict", _scripts(_brain(_by_dict))),
    _script(
        "`from speechbrain import Brain`",
        _replaced(
            ("(sb.Brain)", "(Brain)"),
            ("import speechbrain as sb\n", "import speechbrain as sb\nfrom speechbrain import Brain\n"),
        ),
    ),
    _script(
        "`from speechbrain.core import Brain as Base`",
        _replaced(
            ("(sb.Brain)", "(Base)"),
            ("import speechbrain as sb\n", "import speechbrain as sb\nfrom speechbrain.core import Brain as Base\n"),
        ),
    ),
    _script(
        "`import speechbrain`",
        _scripts(
            lambda text: re.sub(
                r"\bsb\.", "speechbrain.", text.replace("import speechbrain as sb", "import speechbrain")
            )
        ),
    ),
    _script(
        "entries of modules by index",
        _scripts(
            _uses(
                r"self\.modules\.(?!to\b|eval\b|train\b|keys\b|parameters\b|items\b|values\b|state_dict\b|update\b|pop\b)(\w+)",
                r'self.modules["\1"]',
            )
        ),
    ),
    _script(
        "entries of modules by getattr",
        _scripts(_uses(r"self\.modules\.([a-z_]\w*)(?=\()", r'getattr(self.modules, "\1")')),
    ),
    _script(
        "entries of hparams by getattr",
        _scripts(_uses(r"self\.hparams\.([a-zA-Z_]\w*)", r'getattr(self.hparams, "\1")')),
    ),
    _script("modules by a local", _scripts(_by_local("self.modules", "modules"))),
    _script("hparams by a local", _scripts(_by_local("self.hparams", "hparams"))),
    _script("another name for self", _scripts(_lines(lambda text: re.sub(r"\bself\b", "this", text)))),
    _script(
        "another name for the Brain", _scripts(lambda text: re.sub(r"(?m)^    model( =|\.)", r"    brain\1", text))
    ),
)
