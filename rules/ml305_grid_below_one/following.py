"""A theory that follows the sides of images to the shapes, repetitions and sizes that they are used in.

A side that is rounded down to whole patches is 0 where it is shorter than one. Path conditions and refusals on the way
that bound it from below are taken into account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op

from .rounding import stores
from .sides import Quotient, Scale, Side, are_of_grid, combine, round_side, sides_in

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Event, PathCondition, Value
    from modellint.operators import Operator
    from modellint.rule import Project

    from .rounding import Reach

#: Attributes that are the sizes of an image.
MEASURING = operators.attributes("Tensor", "gives:size") | operators.attributes("Image", "gives:size")
#: Facets of operators that take sizes as whole numbers, and the one of those that resize to a size.
_SHAPING = frozenset(("sizes", "repeats"))
_RESIZING = "resamples"
_USING = operators.words(*_SHAPING, _RESIZING)
_REFUSING = frozenset(("raise", "assert"))
#: Events that are evaluated only where something needs their result.
_LATER = frozenset((EventKind.COMPARE, EventKind.INDEX))
#: Comparisons, each with the one that holds where it does not.
_OTHERWISE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, eq=False, slots=True)
class SideUse:
    """A side in whole patches is used at `site`, or by the call that stands there, which `modules` lead to.

    `is_resized_to`: the image is resized to it, and not only cut.
    """

    side: Side
    site: queries.Site
    modules: frozenset[ModuleFacts]
    is_resized_to: bool


def measuring(project: Project, reach: Reach) -> queries.Run[FollowedSides]:
    """A run that follows the sides of images."""
    run = queries.run(project, FollowedSides)
    run.theory.reach = reach
    return run


class _Sides(queries.Refinement):
    """Transfer functions of operators for sides and scales."""

    def __init__(self, run: queries.Interpreter, grids: FollowedSides) -> None:
        self._run = run
        self._grids = grids

    # -- measuring -------------------------------------------------------------------------------------------------

    def gives_sizes(self, name: str) -> bool:
        return name in MEASURING

    def shape(self, atom: queries.Atom, site: queries.Site) -> queries.Atoms:
        tensor = atom if isinstance(atom, queries.Tensor) else queries.Tensor()
        if isinstance(atom, queries.SymbolicInput):
            symbol = atom.symbol
            is_setting = symbol is not None and symbol.owner.endswith(".__init__")
            return (queries.Shape(tensor, queries.Length(site) if is_setting else Side(site, image=atom)),)
        value = site.value.args[0] if site.value.op is not Op.CALL else site.value.args[-1]
        return (queries.Shape(tensor, Side(site, image=_name_of(value))),)

    # -- calls -----------------------------------------------------------------------------------------------------

    def method(
        self, atom: queries.Atom, name: str, arguments: queries.Arguments, frame: queries.Frame, value: Value
    ) -> queries.Atoms | None:
        row = operators.row(f"Tensor.{name}")
        if isinstance(atom, Side):
            return (atom,) if row is not None and "passed" in row.facets else None
        resizing = operators.row(f"Image.{name}")
        for one in (row, resizing):
            if one is not None and self._may_be_image(atom, name):
                self._grids.use(one, arguments, frame, value)
        return self.inner.method(atom, name, arguments, frame, value)

    def _may_be_image(self, atom: queries.Atom, name: str) -> bool:
        """True if the receiver may be a tensor or an image: no object whose class is seen to define the method."""
        if isinstance(atom, queries.Shell):
            return not atom.is_container and self._run.objects.own_method(atom, name) is None
        return isinstance(atom, queries.Tensor | queries.SymbolicInput | queries.Unknown | queries.Plain)

    def function(
        self, name: str, arguments: queries.Arguments, frame: queries.Frame, value: Value
    ) -> queries.Atoms | None:
        row = operators.row(name) or operators.row(name.removeprefix("torch."))
        if row is None:
            return self.inner.function(name, arguments, frame, value)
        self._grids.use(row, arguments, frame, value)
        at, operand = queries.Site(value, frame.function), arguments.argument(0, "input") or ()
        if row.facets.get("gives") == "size":
            return queries.join(self.shape(atom, at) for atom in operand)
        found = self._result_of(row, operand, arguments, at)
        return self.inner.function(name, arguments, frame, value) if found is None else found

    def _result_of(
        self, row: Operator, operand: queries.Atoms, arguments: queries.Arguments, at: queries.Site
    ) -> queries.Atoms | None:
        """The result of an operator on sides and scales; None where it is given neither."""
        facets, given = row.facets, queries.join(arguments.all())
        if "root" in facets or facets.get("like") == "sqrt":
            return (Scale(at),)
        sides = tuple(sides_in(given))
        if "extreme" in facets:
            if sides:
                return sides if "smallest" in facets else tuple(side.bounded_below() for side in sides)
            return (Scale(at),) if any(isinstance(atom, Scale) for atom in given) else None
        where = facets.get("rounds", "same" if "same-number" in facets else None)
        sides = tuple(atom for atom in operand if isinstance(atom, Side))
        if where is None or not sides:
            return (queries.Length(at, is_made=True),) if sides else None
        return tuple(round_side(side, where, at) for side in sides)

    # -- expressions -----------------------------------------------------------------------------------------------

    def arithmetic(self, operator: str, left: queries.Atoms, right: queries.Atoms, made: queries.Site) -> queries.Atoms:
        found = combine(operator, left, right, made)
        if found is not None:
            return found
        is_new = operator == "//" and not any(
            isinstance(atom, queries.Length | queries.Tensor) for atom in (*left, *right)
        )
        found = self.inner.arithmetic(operator, left, right, made)
        return (Quotient(made),) if is_new and all(isinstance(atom, queries.Plain) for atom in found) else found

    def are_known(self, left: queries.Atoms, right: queries.Atoms) -> bool:
        return True

    # -- conditions ------------------------------------------------------------------------------------------------

    def behind(self, atoms: queries.Atoms, guard: PathCondition, frame: queries.Frame) -> queries.Atoms:
        atoms = self.inner.behind(atoms, guard, frame)
        return tuple(
            atom.bounded_below() if isinstance(atom, Side) and self.is_limited(atom, guard, frame) else atom
            for atom in atoms
        )

    def is_limited(self, side: Side, guard: PathCondition, frame: queries.Frame) -> bool:
        """True if one of the path's conditions bounds the side from below."""
        return any(self._keeps(link.test, link.truthy, side, frame) for link in guard.chain())

    def is_refused(self, side: Side, guard: PathCondition, frame: queries.Frame) -> bool:
        """True if only small sides take the path: the opposite of its condition bounds the side from below."""
        return self._keeps(guard.test, not guard.truthy, side, frame)

    def _keeps(self, test: Value, truthy: bool, side: Side, frame: queries.Frame) -> bool:
        """True if the side is bounded from below where `test` comes out as `truthy`."""
        if test.op is Op.UNARY and test.data == "not":
            return self._keeps(test.args[0], not truthy, side, frame)
        if test.op is Op.BOOL:
            kept = [self._keeps(arg, truthy, side, frame) for arg in test.args]
            return any(kept) if (test.data == "and") is truthy else all(kept)
        if test.op is Op.COMPARE and test.data in _OTHERWISE:
            operator = test.data if truthy else _OTHERWISE[test.data]
            one, other = ((arg, self._run.evaluate(arg, frame)) for arg in test.args)
            return _is_bounded(side, operator, one[1], other[1])
        if test.op is Op.CALL:
            return self._call_keeps(test, truthy, side, frame)
        return _excludes_zero(side, self._run.evaluate(test, frame), truthy)

    def _call_keeps(self, call: Value, truthy: bool, side: Side, frame: queries.Frame) -> bool:
        """Like `_keeps`, for a call: one that cannot be read is taken to check the sides among its arguments."""
        atoms = self._run.evaluate(call.callee, frame)
        names = {row.name for atom in atoms if (row := operators.row(str(getattr(atom, "name", "")))) is not None}
        given = [self._run.evaluate(arg, frame) for arg in call.args[1:]]
        if names & {"builtins.any", "builtins.all"} and call.positional:
            if names == {"builtins.all" if truthy else "builtins.any"}:
                return any(self._keeps(part, truthy, side, frame) for part in _elements(call.positional[0]))
            return False
        if any("looks" in row.facets for name in names if (row := operators.row(name)) is not None):
            return False
        return any(side.shares_facts_of(other) for atoms in given for other in sides_in(atoms))


class FollowedSides(queries.Theory, queries.Sink):
    """A sink for sides in whole patches: collects their uses in one run."""

    mode = queries.Mode(asks="grids")
    rests_on = (queries.Tensors,)
    goes_before = (queries.Lookups,)
    alike = (queries.SymbolicInput, queries.Unknown, queries.Plain)
    follows_everything = True
    reach: Reach

    def __init__(self, run: queries.Interpreter) -> None:
        self._run = run
        self._limits = _Sides(run, self)
        tensors = run.of(queries.Tensors)
        tensors.add(self)
        tensors.refine(self._limits)
        #: True where the run needs the results of the functions that it starts.
        self.is_result_asked_for = False
        self._uses: dict[Value, SideUse] = {}
        #: Roundings whose ratio shapes a tensor: such a reshape takes only sides that the divisor divides.
        self._exact: set[Value] = set()
        #: The path conditions of the `raise` statements met so far, with their frames: past them the opposite holds.
        self._refusals: list[tuple[PathCondition, queries.Frame]] = []
        #: The files that give a tensor a shape with a quotient in it: those that cut images into patches.
        self.cutting: set[ModuleFacts] = set()

    @property
    def _lookups(self) -> queries.Lookups:
        return self._run.of(queries.Lookups)

    @property
    def has_uses(self) -> bool:
        """True if a side in whole patches is used, refused or not."""
        return bool(self._uses)

    @property
    def uses(self) -> Iterator[SideUse]:
        """The uses of sides for which no `raise` refuses small ones."""
        for rounding, use in list(self._uses.items()):
            if not use.is_resized_to and rounding in self._exact:
                continue
            if not any(self._limits.is_refused(use.side, guard, frame) for guard, frame in self._refusals):
                yield use

    def matters(self, event: Event, frame: queries.Frame) -> bool | None:
        if event.kind is EventKind.RAISE and event.guard is not None:
            self._refusals.append((event.guard, frame))
        if event.kind is EventKind.CALL and not self._run.objects.under_construction:
            return self._may_use(event.value.callee, frame)
        if event.kind is EventKind.RETURN and not (self.is_result_asked_for or self._lookups.depth > 1):
            return False
        return False if event.kind in _LATER else None

    def _may_use(self, callee: Value, frame: queries.Frame) -> bool:
        """True if a call may use a size or fill a container; the results of other calls are evaluated on demand."""
        if callee.op in (Op.ATTR, Op.GLOBAL) and (callee.data in _USING or callee.data in queries.ADDERS):
            return True
        root = callee
        while root.op is Op.ATTR:
            root = root.args[0]
        if root.op not in (Op.PARAM, Op.GLOBAL):
            return True
        return any(map(self._is_using, self._run.evaluate(callee, frame)))

    def _is_using(self, called: queries.Atom) -> bool:
        if isinstance(called, queries.Outside):
            row = operators.row(called.name)
            return row is not None and not row.facets.keys().isdisjoint((*_SHAPING, _RESIZING))
        if not isinstance(called, queries.FunctionRef):
            return isinstance(called, queries.Shell)
        function = queries.function_of(called.code)
        if function is None or not function.words.isdisjoint(_REFUSING):
            return True
        return self.reach.may_use(function) or stores(function)

    def use(self, row: Operator, arguments: queries.Arguments, frame: queries.Frame, value: Value) -> None:
        """Note the sides among the arguments of an operator that shapes, repeats or resizes."""
        if frame.function is None or self._run.objects.under_construction:
            return
        is_resized_to = _RESIZING in row.facets
        if not is_resized_to and not row.facets.keys() & _SHAPING:
            return
        sides = [side for atoms in arguments.all() for side in sides_in(atoms)]
        for side in sides if are_of_grid(sides) else ():
            if side.stage == "multiple" and side.rounding is not None and not self._is_limited(side):
                self._uses.setdefault(
                    side.rounding.value, self._use(side, queries.Site(value, frame.function), is_resized_to)
                )
        if "sizes" in row.facets:
            floored = (side.rounding for side in sides if side.stage == "floored")
            self._exact.update(rounding.value for rounding in floored if rounding is not None)
        for atoms in arguments.all():
            if "sizes" in row.facets and _has_quotient(atoms):
                self.cutting.add(frame.function.module)

    def _use(self, side: Side, at: queries.Site, is_resized_to: bool) -> SideUse:
        """Make the use of a side, placed at the innermost call in the file that rounds it, else at `at`."""
        way = [queries.Site(call, outer.function) for outer, call in self._run.calls.way if outer.function is not None]
        way.append(at)
        home = None if side.rounding is None else side.rounding.module
        site = next((one for one in reversed(way) if one.module is home), at)
        return SideUse(side, site, frozenset(one.module for one in way), is_resized_to)

    def _is_limited(self, side: Side) -> bool:
        """True if the side is bounded from below, by itself or by a condition around a call on the stack."""
        frames = [(frame, frame.event.guard) for frame in self._lookups.frames if frame.event is not None]
        return side.is_limited or any(
            guard is not None and self._limits.is_limited(side, guard, frame) for frame, guard in frames
        )


def _elements(value: Value) -> tuple[Value, ...]:
    """The elements of a display or of a comprehension."""
    if value.op is Op.COMPREHENSION:
        return value.args[-1:]
    return value.args if value.op in (Op.LIST, Op.TUPLE, Op.SET) else (value,)


def _is_bounded(side: Side, operator: str, left: queries.Atoms, right: queries.Atoms) -> bool:
    """True if a comparison that holds bounds the side from below."""
    if operator in ("<", "<="):
        left, right = right, left
    if operator == "!=":
        return _is_zero(right) and _excludes_zero(side, left, True)
    if operator == "==":
        if _is_zero(right):
            return _excludes_zero(side, left, False)
        return any(_is_about(side, one) for one in (*left, *right))
    return _excludes_zero(side, left, True) if _is_at_most_one(right) else any(_is_about(side, one) for one in left)


def _excludes_zero(side: Side, atoms: queries.Atoms, truthy: bool) -> bool:
    """True if the side is not 0 where `atoms` are true, as it is itself, or where they are 0, as its remainder is."""
    told = [atom for atom in atoms if _is_about(side, atom)]
    return any(isinstance(atom, Side) and (atom.is_rounded if truthy else atom.stage == "rest") for atom in told)


def _is_about(side: Side, atom: queries.Atom) -> bool:
    return isinstance(atom, Side) and side.shares_facts_of(atom)


def _is_zero(atoms: queries.Atoms) -> bool:
    return queries.constant(atoms) == queries.Constant(0)


def _is_at_most_one(atoms: queries.Atoms) -> bool:
    """True if a number is known to be at most 1."""
    known = queries.constant(atoms)
    return known is not None and type(known.value) in (int, float) and known.value <= 1  # type: ignore[operator]


def _has_quotient(atoms: queries.Atoms) -> bool:
    pending = [atoms]
    for one in pending:
        for atom in one:
            if isinstance(atom, Quotient) or (isinstance(atom, Side) and atom.is_rounded):
                return True
            if isinstance(atom, queries.Shell) and atom.is_container and len(pending) < 64:
                pending += [entry.atoms for entry in atom.entries]
    return False


def _name_of(value: Value) -> Hashable:
    """A key for an image: equal for expressions that are written alike and have the same operands."""
    if value.op in (Op.PARAM, Op.GLOBAL, Op.ATTR, Op.INDEX, Op.CONST) and not isinstance(value.data, list):
        return value.op, value.data, *(_name_of(arg) for arg in value.args)
    return value
