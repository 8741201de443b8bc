"""Answers that values give each other in circles: as complete as the circle allows, and each looked for once."""

from __future__ import annotations

from collections import Counter

from modellint.link.values.unfinished import Answers

Graph = dict[str, tuple[str, ...]]


class Reachable:
    """Which nodes each node of a graph leads to, asked of its neighbours."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.answers: Answers[frozenset[str]] = Answers()
        self.computed: Counter[str] = Counter()

    def of(self, node: str) -> frozenset[str]:
        known = self.answers.get(node)
        if known is not None:
            return known
        if not self.answers.ask(node):
            return frozenset()
        self.computed[node] += 1
        found = frozenset({node}).union(*(self.of(other) for other in self.graph[node]))
        self.answers.answer(node, found)
        return found


def test_what_is_answered_is_not_asked_again() -> None:
    graph = Reachable({"a": ("b", "c"), "b": ("d",), "c": ("d",), "d": ()})
    assert graph.of("a") == {"a", "b", "c", "d"}
    assert graph.of("b") == {"b", "d"}
    assert set(graph.computed.values()) == {1}


def test_an_answer_out_of_a_circle_is_forgotten_with_it() -> None:
    graph = Reachable({"a": ("b",), "b": ("a", "c"), "c": ()})
    assert graph.of("a") == {"a", "b", "c"}
    # Inside of the circle `b` was answered without what `a` leads to.
    assert graph.of("b") == {"a", "b", "c"}
    assert graph.computed == {"a": 1, "b": 2, "c": 1}


def test_an_answer_of_an_inner_circle_outlives_it_only_as_far_as_it_rests_on_the_outer_one() -> None:
    graph = Reachable({"a": ("b",), "b": ("c",), "c": ("b", "a", "d"), "d": ()})
    assert graph.of("a") == {"a", "b", "c", "d"}
    for node in ("b", "c"):
        assert graph.of(node) == {"a", "b", "c", "d"}


def test_branches_in_a_loop_are_gone_through_once() -> None:
    # Each step forks and joins again, and the last one leads back: 2 ** 40 ways.
    steps = 40
    graph: Graph = {f"{n}": (f"{n}l", f"{n}r") for n in range(steps)}
    for n in range(steps):
        graph[f"{n}l"] = graph[f"{n}r"] = (f"{(n + 1) % steps}",)
    reachable = Reachable(graph)
    assert reachable.of("0") == set(graph)
    assert sum(reachable.computed.values()) == len(graph)


def test_an_answer_that_was_given_up_leaves_nothing_behind() -> None:
    graph = Reachable({"a": ("b",), "b": ("a",)})
    assert graph.answers.ask("a")
    assert graph.answers.ask("b")
    graph.answers.clear()
    assert graph.of("a") == {"a", "b"}
