"""Function bodies as value graphs: what a name holds where it is used, and under which conditions things happen."""

from __future__ import annotations

import ast
import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from modellint.frontends.flow import lower_expression, lower_function, lower_statements
from modellint.graph.value import Event, EventKind, Flow, Op, Value

if TYPE_CHECKING:
    from modellint.graph.value import PathCondition


def lowered(body: str, head: str = "def f(self, x, y)") -> Flow:
    """The flow of a function with that body."""
    (node,) = ast.parse(f"{head}:\n" + "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    names = [argument.arg for argument in node.args.args]
    return lower_function(node, names, "self" if "self" in names else None).flow


def shown(value: Value, outer: tuple[Value, ...] = ()) -> str:
    """A value as text; `…` where a loop leads back."""
    if value in outer:
        return "…"
    parts = [shown(arg, (*outer, value)) for arg in value.args]
    match value.op:
        case Op.CONST:
            return repr(value.data)
        case Op.PARAM | Op.GLOBAL:
            return str(value.data)
        case Op.ATTR:
            return parts[1] if len(parts) > 1 else f"{parts[0]}.{value.data}"
        case Op.CALL:
            named = len(parts) - len(value.data)
            keywords = [f"{name or '**'}={part}" for name, part in zip(value.data, parts[named:], strict=True)]
            return f"{parts[0]}({', '.join([*parts[1:named], *keywords])})"
        case Op.BIN | Op.COMPARE:
            return f"({parts[0]} {value.data} {parts[1]})"
        case Op.CHOICE:
            return f"<{' | '.join(parts)}>"
        case Op.INDEX:
            return f"{parts[0]}[{parts[1]}]"
        case Op.UNPACK:
            return f"{parts[0]}#{value.data}"
        case Op.UPDATE:
            return f"{value.data}({', '.join(parts)})"
        case _:
            return f"{value.op.value}({', '.join(parts)})"


def result(body: str, head: str = "def f(self, x, y)") -> str:
    """What the only `return` of a body returns."""
    (event,) = lowered(body, head).of(EventKind.RETURN)
    return shown(event.value)


def conditions(guard: PathCondition | None) -> list[str]:
    """The conditions of a guard, the innermost first; `!` where they are false."""
    return [] if guard is None else [("" if g.truthy else "!") + shown(g.test) for g in guard.chain()]


def call_of(flow: Flow, name: str) -> Event:
    """The only call of a function of that name."""
    (event,) = (e for e in flow.of(EventKind.CALL) if e.value.callee.data == name)
    return event


# -- names ----------------------------------------------------------------------------------------------------------


def test_a_name_stands_for_what_was_assigned_last() -> None:
    assert result("a = x\na = a + 1\nreturn a") == "(x + 1)"


def test_one_value_may_have_several_names() -> None:
    assert result("a = b = x\nreturn a + b") == "(x + x)"


def test_names_that_are_not_local_stay_names() -> None:
    assert result("return torch.relu(x)") == "torch.relu(x)"


def test_a_name_that_was_deleted_is_no_longer_local() -> None:
    assert result("a = x\ndel a\nreturn a") == "a"


def test_an_import_inside_a_function_gives_the_full_name() -> None:
    assert result("import torch.nn.functional as F\nreturn F.relu(x)") == "torch.nn.functional.relu(x)"
    assert result("from torch import relu as r\nreturn r(x)") == "torch.relu(x)"


def test_a_relative_import_inside_a_function_is_left_to_the_module() -> None:
    assert result("from .layers import norm\nreturn norm(x)") == "norm(x)"


def test_the_receiver_is_called_self_whatever_its_name() -> None:
    (node,) = ast.parse("def f(this, x):\n    return this.a(x)").body
    assert isinstance(node, ast.FunctionDef)
    (event,) = lower_function(node, ["this", "x"], "this").flow.of(EventKind.RETURN)
    assert shown(event.value) == "self.a(x)"


# -- unpacking ------------------------------------------------------------------------------------------------------


def test_a_tuple_of_known_length_is_taken_apart() -> None:
    assert result("a, b = x, y\nreturn b + a") == "(y + x)"


def test_swapping_two_names_swaps_their_values() -> None:
    assert result("x, y = y, x\nreturn x - y") == "(y - x)"


def test_unpacking_a_call_keeps_the_position() -> None:
    assert result("a, b = self.rnn(x)\nreturn b") == "self.rnn(x)#1"


def test_nested_targets_are_unpacked_step_by_step() -> None:
    assert result("a, (b, c) = self.lstm(x)\nreturn c") == "self.lstm(x)#1#1"


def test_a_starred_target_and_all_behind_it_have_no_position() -> None:
    assert result("a, *b, c = x\nreturn a, b, c") == "tuple(x#0, x#-1, x#-1)"


def test_a_starred_element_hides_which_target_gets_what() -> None:
    assert result("a, b = [*x, y]\nreturn b") == "list(starred(x), y)#1"


# -- branches -------------------------------------------------------------------------------------------------------


def test_two_branches_that_assign_meet_in_a_choice() -> None:
    assert result("if y:\n    a = 1\nelse:\n    a = 2\nreturn a") == "<1 | 2>"


def test_a_branch_that_does_not_assign_keeps_the_old_value() -> None:
    assert result("a = x\nif y:\n    a = 1\nreturn a") == "<1 | x>"


def test_a_branch_that_returns_leaves_its_assignments_behind() -> None:
    flow = lowered("a = 1\nif y:\n    a = 2\n    return x\nreturn a")
    assert [shown(event.value) for event in flow.of(EventKind.RETURN)] == ["x", "1"]


def test_behind_an_early_return_the_condition_is_known_to_be_false() -> None:
    flow = lowered("if x:\n    return y\nuse(y)")
    event = call_of(flow, "use")
    assert conditions(event.guard) == ["!x"]
    assert event.guard is not None
    assert event.guard.early


def test_behind_an_else_that_raises_the_condition_is_known_to_hold() -> None:
    flow = lowered("if x:\n    a = 1\nelse:\n    raise ValueError\nuse(a)")
    assert conditions(call_of(flow, "use").guard) == ["x"]
    assert shown(call_of(flow, "use").value) == "use(1)"


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("assert x", True),
        ("if x:\n    raise ValueError", True),
        ("if x:\n    pass\nelse:\n    raise ValueError", True),
        ("if x:\n    if y:\n        raise ValueError\n    else:\n        raise TypeError", True),
        ("if x:\n    return", False),
        ("if x:\n    pass\nelse:\n    return", False),
        ("if x:\n    if y:\n        return\n    raise ValueError", False),
        ("if x:\n    for z in y:\n        if z:\n            return\n    raise ValueError", False),
    ],
)
def test_what_only_an_error_leaves_behind_holds_wherever_the_run_goes_on(check: str, expected: bool) -> None:
    guard = call_of(lowered(f"{check}\nuse(y)"), "use").guard
    assert guard is not None
    assert guard.early
    assert guard.raised is expected


def test_nothing_happens_behind_branches_that_both_leave() -> None:
    flow = lowered("if x:\n    return 1\nelse:\n    return 2\nuse(x)")
    assert [e for e in flow.of(EventKind.CALL) if e.value.callee.data == "use"] == []


def test_an_assertion_holds_from_there_on() -> None:
    flow = lowered("before(x)\nassert x > 0\nafter(x)")
    assert conditions(call_of(flow, "before").guard) == []
    assert conditions(call_of(flow, "after").guard) == ["(x > 0)"]


def test_a_conditional_expression_is_a_choice_and_guards_its_sides() -> None:
    flow = lowered("return one(x) if y else two(x)")
    assert conditions(call_of(flow, "one").guard) == ["y"]
    assert conditions(call_of(flow, "two").guard) == ["!y"]
    assert result("return 1 if y else x") == "<1 | x>"


def test_the_right_side_of_and_and_or_is_evaluated_under_the_left() -> None:
    flow = lowered("return x and one(x) or two(x)")
    assert conditions(call_of(flow, "one").guard) == ["x"]
    assert conditions(call_of(flow, "two").guard)[-1].startswith("!bool(")


# -- loops ----------------------------------------------------------------------------------------------------------


def test_what_a_loop_changes_is_what_it_was_or_what_a_turn_makes_of_it() -> None:
    assert result("a = 0\nfor i in x:\n    a = a + i\nreturn a") == "<0 | (… + item(x))>"


def test_what_a_loop_leaves_alone_stays_what_it_was() -> None:
    assert result("a = 0\nfor i in x:\n    use(i)\nreturn a") == "0"


def test_a_while_loop_guards_its_body() -> None:
    flow = lowered("while x < 3:\n    use(x)")
    assert conditions(call_of(flow, "use").guard) == ["(x < 3)"]
    assert call_of(flow, "use").loops == 1


def test_an_endless_loop_has_no_condition() -> None:
    assert conditions(call_of(lowered("while True:\n    use(x)"), "use").guard) == []


def test_behind_a_break_its_condition_is_false_until_the_turn_ends() -> None:
    flow = lowered("for i in x:\n    if i == 3:\n        break\n    use(i)\nafter(x)")
    assert conditions(call_of(flow, "use").guard) == ["!(item(x) == 3)"]
    assert conditions(call_of(flow, "after").guard) == []


def test_a_loop_carries_attributes_of_the_receiver() -> None:
    assert result("self.n = 0\nfor i in x:\n    self.n += 1\nreturn self.n") == "<0 | (… + 1)>"


def test_the_else_of_a_loop_runs_outside_of_it() -> None:
    flow = lowered("for i in x:\n    pass\nelse:\n    use(x)")
    assert call_of(flow, "use").loops == 0


# -- changes in place -----------------------------------------------------------------------------------------------


def test_append_makes_a_new_version_of_a_list() -> None:
    assert result("a = []\na.append(x)\na.append(y)\nreturn a") == "append(append(list(), x), y)"


def test_an_item_that_is_assigned_makes_a_new_version() -> None:
    assert result("a = {}\na['k'] = x\nreturn a") == "[]=(dict(), 'k', x)"


def test_an_item_of_an_item_changes_the_outer_one() -> None:
    assert result("a = x\na[0][1] = y\nreturn a") == "[]=(x, 0, []=(x[0], 1, y))"


def test_augmented_assignment_computes_with_the_old_value() -> None:
    assert result("a = x\na += 1\na *= y\nreturn a") == "((x + 1) * y)"


def test_a_method_that_ends_in_an_underscore_changes_its_object() -> None:
    assert result("a = x.clone()\na.clamp_(0, 3)\nreturn a") == "x.clone().clamp_(0, 3)"


def test_a_method_of_the_object_itself_does_not_replace_it() -> None:
    assert result("self.append(x)\nself.reset_()\nreturn self.a") == "self.a"


def test_an_update_knows_under_which_condition_it_happens() -> None:
    (event,) = lowered("a = []\nif x < 3:\n    a.append(x)\nreturn a").of(EventKind.RETURN)
    update = event.value.args[0]
    assert update.op is Op.UPDATE
    assert conditions(update.guard) == ["(x < 3)"]


# -- attributes -----------------------------------------------------------------------------------------------------


def test_an_attribute_of_the_receiver_is_what_the_body_stored_there() -> None:
    assert result("self.a = x + 1\nreturn self.a") == "(x + 1)"


def test_storing_is_an_event_with_its_target() -> None:
    (event,) = lowered("self.layer = nn.Linear(x, y)").of(EventKind.STORE)
    assert shown(event.value) == "nn.Linear(x, y)"
    assert event.target is not None
    assert event.target.data == "layer"


def test_an_annotated_assignment_stores_only_a_value() -> None:
    flow = lowered("self.a: int = x\nself.b: int\nreturn self.b")
    assert [shown(event.value) for event in flow.of(EventKind.STORE)] == ["x"]


# -- comprehensions, lambdas, nested functions ------------------------------------------------------------------------


def test_a_comprehension_has_its_own_names() -> None:
    assert result("i = 1\na = [i + 1 for i in x]\nreturn a, i") == "tuple(comprehension((item(x) + 1)), 1)"


def test_a_comprehension_keeps_its_filter() -> None:
    (event,) = lowered("return [i for i in x if i < 3]").of(EventKind.RETURN)
    assert conditions(event.value.guard) == ["(item(x) < 3)"]


def test_a_comprehension_without_a_filter_has_no_condition() -> None:
    (event,) = lowered("if y:\n    return [i for i in x]\n").of(EventKind.RETURN)
    assert event.value.guard is None


def test_each_clause_of_a_comprehension_counts_as_a_loop() -> None:
    flow = lowered("return {use(i, j) for i in x for j in i}")
    assert call_of(flow, "use").loops == 2
    assert shown(call_of(flow, "use").value) == "use(item(x), item(item(x)))"


def test_a_walrus_names_a_value_where_it_stands() -> None:
    assert result("if (n := len(x)) > 3:\n    y = n\nreturn n") == "len(x)"


def test_a_lambda_sees_the_names_around_it() -> None:
    assert result("a = x\nreturn lambda z: a + 1") == "lambda((x + 1))"


def test_a_nested_function_happens_under_no_known_condition() -> None:
    flow = lowered("def g(z):\n    return use(x)\nreturn g")
    assert conditions(call_of(flow, "use").guard) == ["unknown()"]
    assert [shown(event.value) for event in flow.of(EventKind.RETURN)] == ["lambda(use(x))"]


def test_a_nested_function_hides_the_names_of_its_parameters() -> None:
    assert result("def g(x):\n    return x\nreturn g, x") == "tuple(lambda(inner()), x)"


# -- try, with, match, async ----------------------------------------------------------------------------------------


def test_a_handler_starts_from_what_was_before_the_try() -> None:
    body = "a = 1\ntry:\n    a = risky(x)\nexcept ValueError:\n    b = a\nreturn a"
    assert result(body) == "<risky(x) | 1>"


def test_a_handler_that_leaves_takes_no_part() -> None:
    assert result("try:\n    a = risky(x)\nexcept ValueError:\n    raise\nreturn a") == "risky(x)"


def test_what_happens_in_a_handler_is_conditional() -> None:
    flow = lowered("try:\n    one(x)\nexcept ValueError:\n    two(x)\nfinally:\n    three(x)")
    assert [bool(conditions(call_of(flow, name).guard)) for name in ("one", "two", "three")] == [False, True, False]


def test_with_gives_its_context_to_events_inside() -> None:
    flow = lowered("with torch.no_grad(), open(x) as f:\n    use(f)\nafter(x)")
    assert [shown(context) for context in call_of(flow, "use").contexts] == ["torch.no_grad()", "open(x)"]
    assert shown(call_of(flow, "use").value) == "use(open(x))"
    assert call_of(flow, "after").contexts == ()


def test_the_cases_of_a_match_meet() -> None:
    assert (
        result("a = 0\nmatch x:\n    case 1:\n        a = 1\n    case _:\n        a = 2\nreturn a") == "<<1 | 2> | 0>"
    )


def test_names_that_a_pattern_binds_are_unknown() -> None:
    flow = lowered(
        "match x:\n    case [first, *rest]:\n        use(first, rest)\n    case {'k': v, **more}:\n        two(v, more)"
    )
    assert shown(call_of(flow, "use").value) == "use(unknown(x), unknown(x))"
    assert shown(call_of(flow, "two").value) == "two(unknown(x), unknown(x))"


def test_await_and_async_loops_are_followed() -> None:
    assert result("async for i in x:\n    a = await i\nreturn a", "async def f(x)") == "item(x)"


def test_yield_is_an_event() -> None:
    flow = lowered("yield x\nyield from y")
    assert [shown(event.value) for event in flow.of(EventKind.YIELD)] == ["x", "starred(y)"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="`except*` came with Python 3.11")
def test_exception_groups_are_followed() -> None:
    assert result("try:\n    a = 1\nexcept* ValueError:\n    a = 2\nreturn a") == "<1 | 2>"


# -- expressions ----------------------------------------------------------------------------------------------------


def test_a_negative_number_is_a_constant() -> None:
    assert lower_expression(ast.parse("-100", mode="eval").body).data == -100


def test_a_chain_of_comparisons_is_several_of_them() -> None:
    flow = lowered("return 0 <= x < 3")
    assert [shown(event.value) for event in flow.of(EventKind.COMPARE)] == ["(0 <= x)", "(x < 3)"]


def test_arguments_are_found_by_position_and_by_name() -> None:
    call = call_of(lowered("return f(x, *y, k=1, **z)"), "f").value
    assert call.has_unpacking
    assert call.argument(0) is not None
    assert call.argument(1) is None, "what stands behind `*y` has no known position"
    assert [shown(value) for value in (call.argument(9, "k"),) if value is not None] == ["1"]


def test_module_level_statements_are_lowered_like_a_body() -> None:
    flow = lower_statements(ast.parse("a = 1\nprint(a)").body).flow
    assert shown(call_of(flow, "print").value) == "print(1)"


def test_a_walk_visits_each_value_of_a_cycle_once() -> None:
    (event,) = lowered("a = x\nwhile y:\n    a = a + a\nreturn a").of(EventKind.RETURN)
    visited = list(event.value.walk())
    assert len(visited) == len({id(value) for value in visited})


# -- loops ---------------------------------------------------------------------------------------------------------


def test_a_loop_knows_what_it_runs_over_and_which_events_are_its_own() -> None:
    flow = lowered("a(x)\nfor i in b(y):\n    c(i)\n    for j in x:\n        d(j)\ne(y)")
    outer, inner = flow.loops
    names = [[shown(event.value.callee) for event in flow.events[loop.first : loop.last]] for loop in (outer, inner)]
    assert names == [["c", "d"], ["d"]]
    assert [shown(iterable) for loop in (outer, inner) for _, iterable in loop.turns] == ["b(y)", "x"]
    ((item, _),) = outer.turns
    assert call_of(flow, "c").value.args[1] is item


def test_a_comprehension_knows_its_turns_from_the_outside_in() -> None:
    flow = lowered("return [f(i, j) for i in x for j in y]")
    (loop,) = flow.loops
    (returned,) = flow.of(EventKind.RETURN)
    assert loop.result is returned.value
    assert [shown(iterable) for _, iterable in loop.turns] == ["x", "y"]


def test_a_loop_carries_what_its_body_changes_and_tells_if_it_may_be_left() -> None:
    first, second, third = lowered(
        "a = 0\nfor i in x:\n    a = a + i\nfor i in x:\n    for j in y:\n        if j:\n            break\n"
    ).loops
    assert [choice.target for choice in first.carried] == ["a"]
    assert [loop.is_left for loop in (first, second, third)] == [False, False, True]


def test_a_while_loop_has_no_turns_and_loops_of_nested_functions_are_not_listed() -> None:
    flow = lowered(
        "while x:\n    f(y)\ndef g():\n    for i in x:\n        f(i)\nh = lambda: [i for i in x]\nreturn g, h"
    )
    assert [(loop.turns, loop.result) for loop in flow.loops] == [((), None)]
