"""Following values: which size a number has, what a call reaches, and that nothing is followed for ever."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from modellint_rules.ml501_width_mismatch.evaluator import Evaluator
from modellint_rules.ml501_width_mismatch.sizes import Sizes

from modellint.graph.size import Size, excess, is_proved
from modellint.graph.value import EventKind
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint_rules.ml501_width_mismatch.evaluator import Activation

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value

    Write = Callable[..., "Linked"]


class Linked:
    """A project of a few files, and questions about its `main.py`."""

    def __init__(self, root: Path, files: dict[str, str]) -> None:
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(dedent(text))
        self.project = Project(ProjectOptions(root=root))
        module = self.project.python(root / "main.py")
        assert module is not None
        self.module: ModuleFacts = module

    @property
    def evaluator(self) -> Evaluator:
        return self.project.of(Evaluator)

    def function(self, qualname: str) -> Function:
        return next(f for f in self.module.all_functions() if f.qualname == qualname)

    def call(self, qualname: str, name: str) -> Value:
        """The first call of something called `name` in a function."""
        calls = self.function(qualname).flow.of(EventKind.CALL)
        return next(event.value for event in calls if event.value.callee.data == name)

    def size(self, qualname: str, name: str = "use") -> Size | None:
        """The size of the argument of `use(…)`."""
        frame = self.evaluator.root(self.function(qualname))
        return Sizes(self.evaluator).size(self.call(qualname, name).argument(0), frame)

    def target(self, qualname: str, name: str) -> Activation | None:
        return self.evaluator.call_frame(self.call(qualname, name), self.evaluator.root(self.function(qualname)))


@pytest.fixture
def linked(tmp_path: Path) -> Write:
    def write(main: str, **others: str) -> Linked:
        return Linked(tmp_path, {"main.py": main, **{f"{name}.py": text for name, text in others.items()}})

    return write


# -- sizes ------------------------------------------------------------------------------------------------------------


def test_arithmetic_of_constants_is_computed(linked: Write) -> None:
    assert linked("def f():\n    use(2 ** 12 + 64 * 2 - 7 // 2)").size("f") == Size.of(4221)


def test_constants_come_from_this_file_and_from_others(linked: Write) -> None:
    project = linked("from sizes import ROWS\nEXTRA = 64\ndef f():\n    use(ROWS + EXTRA)", sizes="ROWS = 4096")
    assert project.size("f") == Size.of(4160)


def test_constants_of_an_imported_module_are_found(linked: Write) -> None:
    project = linked("import sizes\ndef f():\n    use(sizes.ROWS)", sizes="BASE = 4000\nROWS = BASE + 96")
    assert project.size("f") == Size.of(4096)


def test_a_parameter_is_a_symbol_with_its_default(linked: Write) -> None:
    size = linked("def f(rows=4096):\n    use(rows + 1)").size("f")
    assert size is not None
    assert str(size) == "rows + 1"
    assert size.number == 4097
    assert size.constant is None


def test_a_parameter_without_default_has_no_number(linked: Write) -> None:
    size = linked("def f(rows):\n    use(rows * 2)").size("f")
    assert size is not None
    assert str(size) == "2 * rows"
    assert size.number is None


def test_the_field_of_a_configuration_is_a_symbol_with_its_default(linked: Write) -> None:
    project = linked(
        "from config import Config\ndef f(config: Config):\n    use(config.rows + config.extra)",
        config="class Config:\n    rows: int = 4096\n    extra: int = 64",
    )
    size = project.size("f")
    assert size is not None
    assert size.number == 4160
    assert str(size) == "extra + rows"


def test_the_configuration_may_be_optional_or_a_string(linked: Write) -> None:
    for annotation in ("'Config'", "Config | None", "Optional[Config]"):
        project = linked(f"class Config:\n    rows: int = 8\ndef f(config: {annotation}):\n    use(config.rows)")
        size = project.size("f")
        assert size is not None
        assert size.number == 8, annotation


def test_a_configuration_with_a_constructor_has_the_defaults_of_its_parameters(linked: Write) -> None:
    project = linked(
        """
        class Config:
            def __init__(self, rows=512):
                self.rows = rows
        def f(config: Config):
            use(config.rows)
        """
    )
    size = project.size("f")
    assert size is not None
    assert size.number == 512


def test_a_configuration_that_is_built_with_other_numbers_has_those(linked: Write) -> None:
    project = linked(
        """
        from dataclasses import dataclass
        @dataclass
        class Config:
            rows: int = 512
        def f():
            config = Config(rows=1024)
            use(config.rows)
        """
    )
    assert project.size("f") == Size.of(1024)


def test_a_field_that_no_class_explains_is_a_symbol_without_a_number(linked: Write) -> None:
    project = linked("def f(config):\n    use(config.rows)\ndef g(config):\n    use(config.width)")
    size = project.size("f")
    assert size is not None
    assert (str(size), size.number) == ("rows", None)
    assert size != project.size("g")


def test_an_attribute_is_what_the_constructor_stores(linked: Write) -> None:
    project = linked(
        """
        from torch import nn
        class Model(nn.Module):
            def __init__(self, rows=16):
                self.rows = rows + 1
            def forward(self):
                use(self.rows)
        """
    )
    size = project.size("Model.forward")
    assert size is not None
    assert str(size) == "rows + 1"


def test_an_object_is_what_it_was_built_with(linked: Write) -> None:
    project = linked(
        """
        from torch import nn
        class Codec(nn.Module):
            def __init__(self, rows=16):
                self.rows = rows
            def forward(self, codes):
                return codes
        def f():
            codec = Codec(32)
            use(codec.rows)
        """
    )
    assert project.size("f") == Size.of(32)


def test_what_a_constructor_passes_on_reaches_every_base(linked: Write) -> None:
    project = linked(
        """
        from base import Base
        class Middle(Base):
            def __init__(self, width, rows):
                super().__init__(rows, width)
        class Model(Middle):
            def __init__(self, rows):
                super().__init__(8, rows + 1)
        def f():
            use(Model(31).rows)
        """,
        base="""
        from torch import nn
        class Base(nn.Module):
            def __init__(self, rows, width):
                self.rows = rows
            def forward(self, codes):
                return codes
        """,
    )
    assert project.size("f") == Size.of(32)


def test_a_function_gives_back_what_its_only_return_says(linked: Write) -> None:
    assert linked("def rows(n):\n    return n * 2\ndef f():\n    use(rows(4))").size("f") == Size.of(8)


def test_two_different_returns_agree_on_nothing(linked: Write) -> None:
    project = linked("def rows(n):\n    if n:\n        return 1\n    return 2\ndef f():\n    use(rows(4))")
    assert project.size("f") is None


def test_two_branches_that_agree_have_a_size(linked: Write) -> None:
    assert linked("def f(x):\n    n = 3 if x else 1 + 2\n    use(n)").size("f") == Size.of(3)
    assert linked("def f(x):\n    n = 3 if x else 4\n    use(n)").size("f") is None


def test_what_is_no_number_has_no_size(linked: Write) -> None:
    for text in ("'a'", "1.5", "True", "None", "[1]", "unknown", "len(x)", "x.shape[0]"):
        assert linked(f"def f(x):\n    use({text})").size("f") is None, text


def test_sizes_are_compared_as_expressions() -> None:
    rows = Size.of(4096)
    assert excess(rows + Size.of(1), rows) == 1
    assert is_proved(rows + Size.of(1), rows)


def test_sizes_are_described_by_number_and_name(linked: Write) -> None:
    size = linked("def f(rows=8):\n    use(rows - 1)").size("f")
    assert size is not None
    assert size.described == "7 (`rows - 1`)"
    assert Size.of(8).described == "8"


# -- calls ------------------------------------------------------------------------------------------------------------


def test_a_call_reaches_a_function_of_another_file(linked: Write) -> None:
    target = linked("from other import g\ndef f(x):\n    g(x)", other="def g(x):\n    return x").target("f", "g")
    assert target is not None
    assert target.function.qualname == "g"


def test_super_reaches_the_next_class(linked: Write) -> None:
    project = linked(
        """
        class Base:
            def step(self):
                return 1
        class Model(Base):
            def step(self):
                return super().step()
        """
    )
    target = project.target("Model.step", "step")
    assert target is not None
    assert target.function.qualname == "Base.step"


def test_arguments_are_bound_by_position_and_by_name(linked: Write) -> None:
    project = linked("def g(a, b, *, c=1):\n    return a\ndef f(x, y):\n    g(x, c=3, b=y)")
    frame = project.target("f", "g")
    assert frame is not None
    assert {name: value.data for name, value in frame.arguments.items()} == {"a": "x", "b": "y", "c": 3}


def test_a_call_with_too_many_arguments_binds_nothing(linked: Write) -> None:
    frame = linked("def g(a):\n    return a\ndef f(x, y):\n    g(x, y)").target("f", "g")
    assert frame is not None
    assert frame.arguments == {}


# -- limits -----------------------------------------------------------------------------------------------------------


def test_recursion_ends(linked: Write) -> None:
    project = linked("def g(n):\n    return g(n - 1)\ndef f():\n    use(g(4))")
    assert project.size("f") is None


def test_mutual_recursion_ends(linked: Write) -> None:
    project = linked("def g(n):\n    return h(n)\ndef h(n):\n    return g(n)\ndef f():\n    use(g(4))")
    assert project.size("f") is None


def test_constants_that_need_each_other_end(linked: Write) -> None:
    assert linked("A = B + 1\nB = A + 1\ndef f():\n    use(A)").size("f") is None


def test_files_that_import_each_other_end(linked: Write) -> None:
    project = linked("from other import A\ndef f():\n    use(A)", other="from main import A")
    assert project.size("f") is None


def test_an_attribute_that_holds_itself_ends(linked: Write) -> None:
    project = linked(
        """
        class Model:
            def __init__(self):
                self.inner = self.inner.inner
                self.n = self.n + 1
            def f(self):
                self.inner.g()
                use(self.n)
        """
    )
    assert project.target("Model.f", "g") is None
    size = project.size("Model.f")
    assert size is not None
    assert size.number is None


def test_a_class_that_inherits_from_itself_ends(linked: Write) -> None:
    project = linked("class A(B):\n    pass\nclass B(A):\n    pass\nclass C(A):\n    def f(self):\n        self.g()")
    assert project.target("C.f", "g") is None


def test_a_deep_chain_of_calls_ends(linked: Write) -> None:
    chain = "\n".join(f"def g{i}(n):\n    return g{i + 1}(n)" for i in range(60))
    assert linked(f"{chain}\ndef g60(n):\n    return n\ndef f():\n    use(g0(4))").size("f") is None


def test_a_number_that_cannot_be_computed_is_the_same_wherever_the_class_speaks_of_it(linked: Write) -> None:
    main = """\
    class Model:
        def __init__(self, sizes):
            self.total = sum(sizes)
            use(self.total + 8)

        def forward(self):
            take(self.total)
    """
    project = linked(main)
    assert excess(known(project.size("Model.__init__")), known(project.size("Model.forward", "take"))) == 8


def test_what_is_passed_to_an_unread_base_is_kept_under_its_own_name(linked: Write) -> None:
    main = """\
    from elsewhere import Base

    class Model(Base):
        def __init__(self, config, other):
            super().__init__(config)
            use(config.size)

        def forward(self):
            take(self.config.size)

        def backward(self):
            take(self.other.size)
    """
    project = linked(main)
    assert known(project.size("Model.__init__")) == project.size("Model.forward", "take")
    assert project.size("Model.backward", "take") is None


def test_defaults_of_two_records_are_not_compared(linked: Write) -> None:
    main = """\
    def small(n=10):
        use(n)

    def large(m=20, k=30):
        use(m)
        take(k)
    """
    project = linked(main)
    small, large = known(project.size("small")), known(project.size("large"))
    assert excess(large, small) is None
    assert excess(known(project.size("large", "take")), large) == 10


def known(size: Size | None) -> Size:
    assert size is not None
    return size
