"""Layers that are evaluated in training mode, as nothing on the whole way puts them into evaluation mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.flow.queries import Act
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Loop

#: Functions that make noise.
_NOISE = frozenset(f"torch.{name}" for name in ("randn", "rand", "randint", "normal", "randn_like", "rand_like"))
#: Methods of tensors that fill them with noise.
_NOISY = frozenset(("normal_", "uniform_", "random_", "sample", "rsample"))


@dataclass(frozen=True, eq=False, slots=True)
class Evaluated:
    """A layer that `action` evaluates: where it is made, what puts it into training mode, what loads or trains it."""

    action: queries.Action
    made: queries.Operand
    trained: queries.Action | None
    loaded: queries.Action | None
    set: queries.Action | None


def evaluated_in_training(module: ModuleFacts, courses: list[queries.ModeCourse]) -> Iterator[Evaluated]:
    """The evaluations in a file that certainly run in training mode."""
    told: set[int] = set()
    for course in courses:
        for number, action in enumerate(course.actions):
            if action.act not in (Act.RUN, Act.RECORD) or action.function.module is not module:
                continue
            if id(action.value) in told or not (action.act is Act.RECORD or course.is_quiet(action)):
                continue
            found = _judge(number, action, course)
            if found is not None:
                told.add(id(action.value))
                yield found


def _judge(number: int, action: queries.Action, course: queries.ModeCourse) -> Evaluated | None:
    project = course.project
    owner = action.function.owner
    if owner is not None and queries.is_layer(owner, project) is not False:
        return None
    if not _is_used(action):
        return None  # it warms up, or collects statistics
    if _is_test(action):
        return None
    objects = _known_objects(action, course)
    if objects is None:
        return None
    keys = frozenset(objects)
    made = [key[1].operand for key in objects if isinstance(key[1], queries.ModeObject)]
    if not course.is_whole or _may_be_set(keys, course) or not all(map(_acts_by_mode, made)):
        return None
    if not all(_runs(action, one) for one in made):
        return None
    before = course.actions[:number]
    backward = [at for at, one in enumerate(course.actions) if one.act is Act.BACKWARD]
    started = [one for one in before if one.act is Act.TRAIN and _concerns(one, keys, course)]
    is_born = all(one.function in course.functions for one in made)
    trained = loaded = None
    if backward:
        trained = _training(number, action, keys, course)
        if trained is None or _is_drawn(action):
            return None
        if not (is_born or started):
            return None
        last = max((at for at, one in enumerate(before) if one in started), default=-1)
        if started and not any(last < at < number for at in backward) and not _is_run_once(action):
            return None
    else:
        loads = [one for one in before if one.act is Act.LOAD and _concerns(one, keys, course)]
        loaded = loads[0] if loads else None
        if loaded is None or started or not is_born:
            return None
    if any(course.may_hand_over(one, keys) for one in course.of(Act.OTHER, Act.RUN)):
        return None
    if not course.is_certain(None):
        return None
    return Evaluated(action, made[0], trained, loaded, started[-1] if started else None)


def _is_used(action: queries.Action) -> bool:
    """True if code does something with what a call gives."""
    flow, value = action.function.flow, action.value
    given = (part for one in flow.evaluated() if one is not value for part in one.walk())
    return any(part is value for part in given) or any(
        event.kind is EventKind.RETURN and event.value is value for event in flow.events
    )


def _is_test(action: queries.Action) -> bool:
    """True for what a test does."""
    return action.is_tried and any(one.name.startswith("test_") for one in action.functions)


def _known_objects(action: queries.Action, course: queries.ModeCourse) -> frozenset[queries.Key] | None:
    """The objects that an action is done to, if all are made in sight."""
    found = course.objects(action, action.subject)
    if not found or any(kind != "made" for kind, _ in found):
        return None
    return found


def _acts_by_mode(made: queries.Operand) -> bool:
    return queries.acts_by_mode(made) is True


def _runs(action: queries.Action, made: queries.Operand) -> bool:
    """True if an action runs the layer: calls it, or a method that uses parts of it."""
    callee, subject, model = action.value.callee, action.subject, made.made_class()
    if action.act is Act.RECORD or subject is None or subject.value is callee or callee.data == "forward":
        return True
    method = None if model is None else model.method(str(callee.data))
    return model is not None and method is not None and queries.runs_parts(method, model, made.project)


def _concerns(action: queries.Action, keys: frozenset[queries.Key], course: queries.ModeCourse) -> bool:
    """True if an action is certainly done to the objects."""
    found = course.objects(action, action.subject)
    return found is not None and found <= keys


def _may_be_set(keys: frozenset[queries.Key], course: queries.ModeCourse) -> bool:
    """True if something may put one of the objects, or what holds it, into evaluation mode."""
    for one in course.of(Act.EVAL, Act.MODE):
        found = course.objects(one, one.subject)
        if found is None or course.may_be_related(found, keys):
            return True
    return False


def _training(
    number: int, action: queries.Action, keys: frozenset[queries.Key], course: queries.ModeCourse
) -> queries.Action | None:
    """The run that trains a layer before its evaluation; None if that may belong to the training."""
    backward = [(at, one) for at, one in enumerate(course.actions) if one.act is Act.BACKWARD]
    if action.loops and any(one.is_within(action.loops[-1]) for _, one in backward):
        return None
    shared = _shared_loop(action.loops, [one for _, one in backward])
    near = [(at, one) for at, one in backward if shared is None or one.is_within(shared)]
    if not near or any(at > number for at, _ in near):
        return None
    for at, one in enumerate(course.actions[:number]):
        if one.act is not Act.RUN or course.is_quiet(one) or not any(at < other for other, _ in near):
            continue
        found = course.objects(one, one.subject)
        if found and found & keys and any(_are_near(one, loss) for _, loss in near):
            return one
    return None


def _are_near(run: queries.Action, loss: queries.Action) -> bool:
    """True if a loss goes backward in the loop in which a layer runs."""
    return not run.loops or loss.is_within(run.loops[-1])


def _shared_loop(loops: tuple[Loop, ...], others: list[queries.Action]) -> Loop | None:
    """The innermost of some loops that one of the other actions stands in, too."""
    return next((loop for loop in reversed(loops) if any(one.is_within(loop) for one in others)), None)


def _is_run_once(action: queries.Action) -> bool:
    """True if each input of a loop is run once: several results of one input are meant to differ."""
    if not action.loops:
        return False
    items = [item for item, _ in action.loops[-1].turns]
    given = [part for one in action.value.args[1:] for part in one.walk()]
    return bool(items) and any(part is item for part in given for item in items)


def _is_drawn(action: queries.Action) -> bool:
    """True if a layer runs on noise."""
    for one in action.value.args[1:]:
        for leaf in action.operand(one).origins():
            for part in leaf.value.walk():
                if part.op is not Op.CALL:
                    continue
                definition = leaf.project.names.definition(leaf.function.module, part.callee)
                if isinstance(definition, External) and definition.name in _NOISE:
                    return True
                if part.callee.op is Op.ATTR and part.callee.data in _NOISY:
                    return True
    return False
