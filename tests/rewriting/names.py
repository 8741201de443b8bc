"""Other names for what a project defines."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from functools import cache
from typing import TYPE_CHECKING

import libcst as cst

from rewriting.code import Function, is_documentation, parameters, statements
from rewriting.imports import Renamed
from rewriting.marks import MARK
from rewriting.rewriting import Kind, Rewriting, changed, codemod, in_turn, parsed

if TYPE_CHECKING:
    from rewriting.marks import Files

_WORD = re.compile(r"[A-Za-z_]\w*")
#: Names by which frameworks call what projects define.
_CALLED_BY_OTHERS = frozenset(
    "forward training_step validation_step compute_forward compute_objectives fit_batch evaluate_batch on_stage_start "
    "on_stage_end on_fit_batch_start on_fit_batch_end optimizers_step make_dataloader run_opts "
    "init_optimizers on_fit_start on_evaluate_start configure_optimizers get_input_embeddings get_output_embeddings "
    "tie_weights post_init init_weights hparams modules mods checkpointer optimizer opt_class extra_repr "
    "_init_weights _tied_weights_keys main cls self args kwargs config tokenizer super".split()
)


@cache
def _names_of_torch() -> frozenset[str]:
    """Every name that could be torch's own: of functions, of attributes of tensors and layers, and of parameters."""
    import inspect

    import torch
    from torch.nn import functional

    names = {
        *dir(torch),
        *dir(torch.nn),
        *dir(functional),
        *dir(torch.Tensor),
        *dir(torch.nn.Module),
        *dir(torch.optim),
    }
    for cls in vars(torch.nn).values():
        if inspect.isclass(cls):
            names.update(inspect.signature(cls).parameters)
            names.update(getattr(cls, "__annotations__", ()))
    for made in (torch.nn.Linear(1, 1), torch.nn.Embedding(1, 1), torch.nn.LSTM(1, 1), torch.nn.Conv1d(1, 1, 1)):
        names.update(vars(made))
    return frozenset(names)


def _defined(tree: ast.AST) -> set[str]:
    """The names that a file defines: classes, functions, parameters, variables and attributes."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return {name for name in names if not name.startswith("__")}


def _kept(files: Files) -> set[str]:
    """The names that have to stay: those of others, and those that stand in texts."""
    kept = {*dir(builtins), *keyword.kwlist, *_CALLED_BY_OTHERS, *_names_of_torch()}
    for path, text in files.items():
        if not path.endswith(".py"):
            kept.update(_WORD.findall(text))
            continue
        kept.add(path.rpartition("/")[2].removesuffix(".py"))
        tree = ast.parse(text)
        kept.update(_asked_of_others(tree, files))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                kept.update(_WORD.findall(node.value))
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                project = isinstance(node, ast.ImportFrom) and f"{node.module}.py" in files
                kept.update((node.module or "").split(".") if isinstance(node, ast.ImportFrom) else ())
                for alias in node.names:
                    kept.update(() if project else alias.name.split("."))
                    kept.update([alias.asname] if alias.asname else ())
    return kept


def _asked_of_others(tree: ast.Module, files: Files) -> set[str]:
    """The arguments that are given by name to what is imported from elsewhere."""
    others = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and f"{getattr(node, 'module', None)}.py" not in files
        for alias in node.names
    }
    return {
        given.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).partition(".")[0] in others
        for given in node.keywords
        if given.arg is not None
    }


class _Neutral(cst.CSTTransformer):
    """Every name in a file by its new one, whatever it stands for."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def leave_Name(self, original: cst.Name, node: cst.Name) -> cst.Name:
        return node.with_changes(value=self._names.get(node.value, node.value))


def _neutral(files: Files) -> dict[str, str] | None:
    modules = {path: parsed(text) for path, text in files.items() if path.endswith(".py")}
    if None in modules.values():
        return None
    defined: set[str] = set()
    for path in modules:
        defined |= _defined(ast.parse(files[path]))
    names = {}
    for number, name in enumerate(sorted(defined - _kept(files))):
        names[name] = f"K{number}" if name[0].isupper() and not name.isupper() else f"v{number}"
    result = dict(files)
    for path, module in modules.items():
        result[path] = module.visit(_Neutral(names)).code  # type: ignore[union-attr]
    return changed(files, result)


class _OtherSelf(cst.CSTTransformer):
    """Methods whose first parameter has another name."""

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        if parameters(node)[:1] != ["self"]:
            return node
        return node.visit(Renamed({"self": "this"}))  # type: ignore[return-value]


class _Alias(cst.CSTTransformer):
    """Methods that call `self` something else as soon as they start."""

    def leave_FunctionDef(self, original: cst.FunctionDef, node: cst.FunctionDef) -> cst.FunctionDef:
        function = Function(original, True, False)
        if parameters(node)[:1] != ["self"] or not isinstance(node.body, cst.IndentedBlock) or node.decorators:
            return node
        body = list(node.body.body)
        front = [body.pop(0)] if is_documentation(body[0]) else []
        name = function.fresh("me")
        renamed = [part.visit(Renamed({"self": name})) for part in body]
        if all(part.deep_equals(before) for part, before in zip(renamed, body, strict=True)):
            return node
        return node.with_changes(body=node.body.with_changes(body=[*front, *statements(f"{name} = self"), *renamed]))


class _Unsaid(cst.CSTTransformer):
    """A file without comments, but for marks, and without docstrings."""

    def leave_Comment(self, original: cst.Comment, comment: cst.Comment) -> cst.Comment | cst.RemovalSentinel:
        return comment if MARK.match(comment.value) else cst.RemoveFromParent()

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        if not is_documentation(node):
            return node
        return node.with_changes(body=[cst.Pass()])


#: Rules for which nothing but code counts. A comment says that ML502's file is what another one is generated from, that
#: ML504's noise is wanted, and what shape ML505's tensor has; so does a name of a method to ML504.
_IN_CODE = ("ML1", "ML2", "ML3", "ML503", "ML506", "ML507", "ML508", "ML509")
_WITHOUT_NAMES = (*_IN_CODE, "ML502", "ML505")

REWRITINGS = (
    Rewriting("nothing but code, and neutral names", Kind.SYNTAX, in_turn(codemod(_Unsaid), _neutral), _IN_CODE),
    Rewriting("neutral names for everything defined", Kind.SYNTAX, _neutral, _WITHOUT_NAMES),
    Rewriting("another name for the parameter self", Kind.SYNTAX, codemod(_OtherSelf)),
    Rewriting("`me = self`", Kind.MOVE, codemod(_Alias)),
)
