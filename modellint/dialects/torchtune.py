"""Recipes of torchtune: programs with `@config.parse`, and the configurations that they are run with.

A configuration is one file, which `--config` names on the command line; other arguments there, `key=value`, may add
keys. The command lines stand in pages, scripts, and comments of the configurations themselves.

Source: torchtune 0.6.1, `config/_parse.py`, `config/_instantiate.py` and `_cli/run.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect
from modellint.link.names import DefinedFunction, External
from modellint.link.searched import files_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe, Scalar
    from modellint.link.names import Definition
    from modellint.link.project import Project

LIBRARY = "torchtune"
#: The decorator of a program, and where it is defined.
_PARSE = frozenset(("torchtune.config.parse", "torchtune.config._parse.parse"))
#: The endings of files that show command lines.
_SHOWING = (".md", ".rst", ".sh", ".slurm", ".txt", ".py", ".yaml", ".yml", ".toml")
_OPTION = "--config"
_CONTINUED = re.compile(r"\\[ \t]*(?:\r\n?|\n)[ \t]*#?[ \t]*")
_QUOTES = "`'\""
_GIVEN = re.compile(r"~?([A-Za-z_][\w.]*)=")
_SUFFIXES = (".yaml", ".yml", ".py")
#: The recipes that torchtune ships. Source: torchtune 0.6.1, `_recipe_registry.py`.
_RECIPES = frozenset(
    (
        *("full_finetune_single_device", "full_finetune_distributed", "lora_finetune_single_device"),
        *("lora_finetune_distributed", "full_dpo_distributed", "lora_dpo_single_device", "lora_dpo_distributed"),
        *("ppo_full_finetune_single_device", "knowledge_distillation_single_device"),
        *("knowledge_distillation_distributed", "qat_distributed", "qat_lora_finetune_distributed"),
        *("eleuther_eval", "generate", "quantize"),
    )
)
#: What the recipes that torchtune ships pass to the objects of top-level keys: how many arguments by position, and the
#: names of others that an object may need. Source: torchtune 0.6.1, `recipes/*.py`.
_SHIPPED: dict[str, tuple[int, frozenset[str]]] = {
    **dict.fromkeys(("model", "policy_model", "reward_and_value_model", "teacher_model"), (0, frozenset())),
    **dict.fromkeys(("kd_loss", "loss", "metric_logger", "quantizer", "tokenizer"), (0, frozenset())),
    **dict.fromkeys(("checkpointer", "ref_checkpointer", "teacher_checkpointer"), (0, frozenset())),
    **dict.fromkeys(("ref_policy_checkpointer", "reward_checkpointer", "value_checkpointer"), (0, frozenset())),
    "dataset": (1, frozenset()),
    "optimizer": (1, frozenset()),
    "lr_scheduler": (1, frozenset(("num_training_steps", "last_epoch"))),
}


@dataclass(frozen=True)
class Program:
    """A program of torchtune: its script, and the function that gets the configuration.

    `is_named`: a command line names it with the configuration that it is asked for.
    """

    script: Path
    main: str
    is_named: bool = False


@dataclass(frozen=True)
class _Command:
    """A command line: the names of the program and of the configuration, without endings, and the keys it gives."""

    program: str
    config: str
    keys: frozenset[str]


def programs_in(module: ModuleFacts, project: Project) -> tuple[Program, ...]:
    """The programs in a file; nothing is searched for one that imports nothing of torchtune."""
    if not module.imports_of(LIBRARY):
        return ()
    return tuple(
        Program(module.file, function.name)
        for function in module.functions.values()
        for decorator in function.signature.decorators
        if _name_of(project.names.definition(module, decorator)) in _PARSE
    )


def _name_of(definition: Definition | None) -> str:
    """The full name of a function, whether its source can be read or not; empty for anything else."""
    if isinstance(definition, DefinedFunction):
        return f"{definition.function.module.name}.{definition.function.qualname}"
    return definition.name if isinstance(definition, External) else ""


def _programs(project: Project) -> tuple[Program, ...]:
    def find() -> tuple[Program, ...]:
        modules = map(project.python, project.files.mentioning(project.options.root, LIBRARY))
        return tuple(program for module in modules if module is not None for program in programs_in(module, project))

    return project.once(("torchtune programs",), find)


def programs_of(recipe: Recipe, project: Project) -> tuple[Program, ...]:
    """The programs that a configuration is run with: those that command lines name, or else the project's only one."""
    known = _programs(project)

    def find() -> tuple[Program, ...]:
        named = {one.program for one in _commands(project) if _ends(recipe.file, one.config)}
        if not named:
            return known if len(known) == 1 else ()
        found = (one for one in known if any(_ends(one.script, name) for name in named))
        return tuple(Program(one.script, one.main, True) for one in found)

    return project.once(("torchtune programs of", recipe.file), find) if known else ()


def shipped_call(keys: Sequence[Scalar], recipe: Recipe, project: Project) -> tuple[int, frozenset[str]] | None:
    """The arguments that torchtune's own recipes pass to the object at some keys; None if a program may be another one.

    An object may stand in a list: `dataset` has several.
    """
    named = {one.program for one in _commands(project) if _ends(recipe.file, one.config)}
    if not (named <= _RECIPES if named else not _programs(project)):
        return None
    is_top = len(keys) == 1 or (len(keys) == 2 and isinstance(keys[1], int))
    return _SHIPPED.get(str(keys[0])) if is_top else None


def given_in(where: Sequence[Scalar], recipe: Recipe, project: Project) -> frozenset[str]:
    """The keys that command lines with a configuration give in one of its mappings."""
    around = "".join(f"{key}." for key in where)
    commands = (one for one in _commands(project) if _ends(recipe.file, one.config))
    given = (key for one in commands for key in one.keys if key.startswith(around))
    return frozenset(key[len(around) :].partition(".")[0] for key in given)


def pairs(module: ModuleFacts, project: Project) -> Iterator[tuple[Program, Recipe]]:
    """The programs in a file, each with the configurations that it is run with."""
    own = {program.script for program in programs_in(module, project)}
    if not own:
        return
    for path in files_below(project, project.options.root, (".yaml", ".yml")):
        recipe = project.config(path)
        if recipe is not None and recipe.dialect is Dialect.TORCHTUNE:
            for program in programs_of(recipe, project):
                if program.script in own:
                    yield program, recipe


def is_given(where: str, name: str, project: Project) -> bool:
    """True if a command line gives a key, or a mapping around it."""
    keys = [*filter(None, where.split(".")), name]
    given = {key for one in _commands(project) for key in one.keys}
    return any(".".join(keys[:end]) in given for end in range(1, len(keys) + 1))


def _commands(project: Project) -> tuple[_Command, ...]:
    """The command lines with `--config` that the project shows."""

    def find() -> tuple[_Command, ...]:
        found: dict[_Command, None] = {}
        for path in files_below(project, project.options.root, _SHOWING):
            data = project.files.read(path) or b""
            if _OPTION.encode() in data:
                text = _CONTINUED.sub(" ", data.decode("utf-8", "replace"))
                lines = (line for line in text.splitlines() if _OPTION in line)
                found.update(dict.fromkeys(filter(None, map(_command_in, lines))))
        return tuple(found)

    return project.once(("torchtune commands",), find)


def _command_in(line: str) -> _Command | None:
    words = [word.strip(_QUOTES) for word in line.replace(f"{_OPTION}=", f"{_OPTION} ").split()]
    at = words.index(_OPTION) if _OPTION in words else -1
    if at < 1 or at + 1 == len(words):
        return None
    scripts = [word for word in words[:at] if word.endswith(".py")]
    keys = frozenset(match[1] for word in words[at + 2 :] if (match := _GIVEN.match(word)))
    return _Command(_bare(scripts[-1] if scripts else words[at - 1]), _bare(words[at + 1]), keys)


def _bare(name: str) -> str:
    """A path or name without its ending, and without the way to where it begins."""
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name.lstrip("./")


def _ends(path: Path, name: str) -> bool:
    """True if a path, with or without its ending, ends with a name."""
    return bool(name) and path.as_posix().endswith((f"/{name}{path.suffix}", f"/{name}"))
