"""Trunks in the theory of shapes: networks of torchvision, timm and transformers, known by facts instead of their code.

A trunk is an object of the run whose parts are layers of torch, as far as these are known. Its parts can be taken and
replaced like those of any layer; a part of unknown code gives tensors of known channels.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from modellint.flow.domain import (
    PLAIN,
    UNKNOWN,
    Arguments,
    Bound,
    ClassRef,
    Constant,
    FunctionRef,
    Outside,
    Prepared,
    function_of,
    join,
    text,
)
from modellint.flow.heap import Shell, shells_in
from modellint.flow.shapes.atoms import Shaped, constant_of, is_none
from modellint.flow.shapes.notes import Row
from modellint.flow.shapes.shape import ANY, Dim, Shape, unknown
from modellint.flow.shapes.values import layers_at
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.methods import Conduct
from modellint.graph.size import Size
from modellint.graph.value import EventKind, Op, is_self
from modellint.knowledge import trunks as facts
from modellint.link.calls.doubts import subclasses
from modellint.link.classes.models import ClassModel
from modellint.link.values.members import Members
from modellint.operators.shapes import shape_row

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
    from modellint.graph.definitions import Definition
    from modellint.graph.methods import Method
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Flow, Value
    from modellint.link.project import Project
    from modellint.operators import Operator

#: Arguments of builders that decide no width.
_HARMLESS = frozenset(
    "weights weights_backbone pretrained progress num_classes dropout norm_layer zero_init_residual init_weights "
    "transform_input aux_logits memory_efficient drop_rate stochastic_depth_prob attention_dropout "
    "replace_stride_with_dilation".split()
)
_OF_TIMM = frozenset(
    "model_name pretrained num_classes in_chans drop_rate drop_path_rate img_size checkpoint_path checkpoint_key "
    "exportable scriptable features_only out_indices cache_dir attn_drop_rate proj_drop_rate drop_block_rate".split()
)
#: The classes that letters of the facts stand for.
_CLASSES = {
    "C": "Conv2d",
    "B": "BatchNorm2d",
    "N": "LayerNorm",
    "R": "ReLU",
    "D": "Dropout",
    "H": "Hardswish",
    "S": "SiLU",
    "M": "MaxPool2d",
    "A": "AdaptiveAvgPool2d",
    "F": "Flatten",
    "L": "Linear",
}
#: Where code changes how layers of a trunk move over an image, or what the first one takes.
_MOVED = re.compile(r"\.\s*(?:stride|dilation|padding|kernel_size|ceil_mode)\b|dilat|_nostride")
_ADAPTED = re.compile(
    r"(?:conv\w*|proj|stem|first|\])[\w.\[\]\s]*\.\s*weight(?:\s*\.\s*data)?\s*=[^=]|\.\s*in_channels\s*=[^=]"
)
#: Settings of layers that are no parts.
_SETTINGS = frozenset(
    "stride dilation padding kernel_size requires_grad p eps momentum inplace training weight bias data".split()
)
#: Names in a file that may use a trunk in another way than by a call of it as a whole.
_SPLITTING = (
    r"\.\s*(?:children|named_children|modules|named_modules|_modules|get_submodule|forward)\b"
    r"|feature_extractor|LayerGetter|register_forward"
)
#: Uses of a part that are none of its results.
_IDLE = r"(?!\s*\.\s*(?:parameters|named_parameters|eval|train|requires_grad_|in_features|in_channels)\b)"
#: The channels of an image.
_COLOURS = 3
#: Methods of a layer that give its parts.
_LISTING = frozenset(("children", "named_children"))
#: The names that networks of timm give their heads.
_HEADS = ("fc", "head", "classifier", "last_linear")
#: The folders that installed packages lie in.
_FOLDERS = frozenset(("site-packages", "dist-packages"))
#: Class methods that load what is published, or make it of settings.
PUBLISHED = frozenset(("from_pretrained", "from_config", "_from_config"))
#: The names of the first argument that names what is published.
_NAMES = ("name", "model_name", "pretrained_model_name_or_path")
_FIRST = ("x", "input", "pixel_values", "input_ids", "inputs_embeds", "input_values")


def may_make_trunk(function: Atom) -> bool:
    """True for a function or class of a package that has trunks, by its name."""
    if isinstance(function, Outside):
        return facts.may_be_trunk(function.name)
    if isinstance(function, ClassRef):
        return facts.may_be_trunk(function.model.name)
    if not isinstance(function, FunctionRef):
        return False
    if isinstance(function.receiver, ClassRef):
        return facts.may_be_trunk(function.receiver.model.name)
    code = function_of(function.code)
    return code is not None and facts.may_be_trunk(f"{code.module.name}.")


class Plan(NamedTuple):
    """The parts of a trunk that was made, in the order in which it calls them; `None` for the unknown way of one."""

    steps: tuple[facts.Node, ...]
    maker: Function | None
    module: ModuleFacts | None

    @property
    def is_known(self) -> bool:
        return all(step.kind != "?" or step.name for step in self.steps)


class Stage(NamedTuple):
    """A part of unknown code: the convolution that gives the same shapes, if any, and what becomes of the result."""

    kind: str
    conv: Shell | None
    is_moved: bool


class Encoded(NamedTuple):
    """An encoder: the width of its states, True if it gives a pooled one as well, and if each token has one."""

    width: Dim
    pools: bool
    keeps_length: bool


class Calling(Protocol):
    """The theory of shapes, as far as trunks use it."""

    row: Row | None

    def is_of_root(self, frame: Frame) -> bool:
        """True if code of the root, or of a function of its file that it calls, is run."""

    def key_of(self, value: Value, frame: Frame) -> Hashable:
        """The key that tells an expression apart from others."""

    def tensor_of(self, atom: Atom) -> Shaped | None:
        """The tensor that an atom is."""

    def tensor_in(self, atoms: Atoms) -> Shaped | None:
        """The tensor that a value certainly is."""

    def call_layer(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
        """The result of a layer."""

    def call_operator(
        self, row: Operator, slots: tuple[Atoms, ...], arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms:
        """The result of a function of torch."""


class UnreadFacts:
    """The facts about a layer class of another package that is not read: it may be any layer class."""

    def __init__(self, run: Interpreter) -> None:
        module = run.classes.named("torch.nn.Module", None)
        assert module is not None
        self.name = "a class that is not read"
        self.bases: tuple[Definition | None, ...] = (External(module.name), None)
        self.conduct = Conduct()
        self.attributes: Mapping[str, Value] = {}
        self.fields = None
        self.scope = module.facts.scope

    def has_method(self, name: str) -> bool:
        """True if the class itself defines a method."""
        return False

    def method(self, name: str) -> Method | None:
        """A method that the class itself defines."""
        return None


class Trunks:
    """The trunks of one run."""

    def __init__(self, run: Interpreter, theory: Calling) -> None:
        self._run, self._theory = run, theory
        self._plans: dict[Shell, Plan] = {}
        self._stages: dict[Shell, Stage] = {}
        self._pooled: dict[Shell, facts.Pooled] = {}
        self._maps: dict[Shell, tuple[int, ...]] = {}
        self._encoders: dict[Shell, Encoded] = {}
        self._configs: dict[Shell, Dim] = {}
        #: The output of each call of an encoder.
        self._outputs: dict[Shell, tuple[Atoms, Atoms]] = {}
        #: The trunks that unknown code gets, which may replace their heads.
        self._escaped: set[Shell] = set()
        #: The class of trunks, and of their parts of unknown code.
        self._unread = ClassModel(UnreadFacts(run), run.classes)
        #: The function that makes a trunk now, which may be one of several that an expression calls.
        self._builder = ""
        #: The keys of calls, as they are remembered, that give trunks.
        self.shared: set[Hashable] = set()
        #: The trunks in words, by the calls that make them.
        self.words: dict[Value, str] = {}
        #: The trunks that roots make themselves.
        self._own: dict[Shell, tuple[Value, Frame]] = {}

    # -- how they come to be ---------------------------------------------------------------------------------------

    def make(self, function: Atom, arguments: Arguments, frame: Frame, value: Value, method: str = "") -> Atoms | None:
        """The trunk that a function makes, or a method of a class; None if it is no builder of a known one."""
        name = self._name_of(function, method)
        if not facts.may_be_trunk(name) or frame.function is None:
            return None
        if isinstance(function, Prepared):
            arguments = function.arguments.then(arguments)
        published = next((said for place in _NAMES if (said := text(arguments.argument(0, place)))), "")
        self._builder = f"{name} {published}"
        found = self._make_named(name, arguments, frame, value)
        if found is not None:
            words = facts.name_of_trunk(name, published)
            self.words[value] = words if self.words.get(value, words) == words else "one of these networks"
        return found

    def _make_named(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if name.startswith("timm."):
            is_create = name in ("timm.create_model", "timm.models.create_model", "timm.models.factory.create_model")
            is_create = is_create or name == "timm.models._factory.create_model"
            return self._make_of_timm(arguments, frame, value) if is_create else None
        if name.startswith("transformers."):
            return self._make_encoder(name.removeprefix("transformers."), arguments, frame, value)
        builder = facts.torchvision_name(name)
        if builder == "get_model":
            builder = text(arguments.argument(0, "name")) or ""
            arguments = Arguments(arguments.positional[1:], _without(arguments, "name"), arguments.is_complete)
        nodes = facts.network(builder) if builder else ()
        if not nodes or not arguments.is_complete or len(arguments.positional) > 2:
            return None
        if not arguments.keywords.keys() <= _HARMLESS:
            return None
        return (self._make_network(nodes, arguments, frame, value),)

    def _name_of(self, function: Atom, method: str) -> str:
        """The dotted name of a function, class or class method of an installed package, or of one that is not there.

        Empty for one that the project has itself, under whichever name.
        """
        if isinstance(function, Outside):
            return function.name
        if isinstance(function, ClassRef):
            cls = function.model.cls
            is_packaged = cls is None or _is_packaged(cls.module)
            return f"{function.model.name}.{method}".rstrip(".") if is_packaged else ""
        if not isinstance(function, FunctionRef):
            return ""
        if isinstance(function.receiver, ClassRef):
            code = function_of(function.code)
            return "" if code is None else self._name_of(function.receiver, code.name)
        code = function_of(function.code)
        if code is None or code.owner is not None or not _is_packaged(code.module):
            return ""
        return f"{code.module.name}.{code.name}"

    def _shell(self, kind: str, path: str, frame: Frame, value: Value) -> Shell:
        return self._run.shell(kind, value, frame, (self._builder, path))

    def layer(self, name: str, path: str, slots: tuple[Atoms, ...], frame: Frame, value: Value) -> Shell:
        """A layer of torch that is part of a trunk."""
        found = self._shell("instance", path, frame, value)
        found.model = self._unread if name == "Module" else self._run.classes.named(f"torch.nn.{name}", None)
        found.arguments = Arguments(slots)
        found.is_initialised = True
        found.is_built = name in ("Module", "Sequential")
        return found

    def add_stage(self, layer: Shell, stage: Stage) -> None:
        """Note what a part of unknown code does to shapes."""
        self._stages[layer] = stage

    def _make_network(self, nodes: tuple[facts.Node, ...], arguments: Arguments, frame: Frame, value: Value) -> Shell:
        function = frame.function
        assert function is not None
        classes = arguments.keywords.get("num_classes", (Constant(facts.CLASSES),))
        said = function.module.code
        is_moved = bool(_MOVED.search(said)) or "replace_stride_with_dilation" in arguments.keywords
        making = _Making(self, classes, is_moved, bool(_ADAPTED.search(said)), frame, value)
        trunk = self.layer("Module", "", (), frame, value)
        changed = _changed_elsewhere(function, self._run) | _deleted_in(function.module)
        for node in nodes:
            if node.name and node.kind != ".":
                layer: Atoms = (making.layer(node, node.name),) if node.name not in changed else UNKNOWN
                trunk.set(node.name, layer)
        self._keep(trunk, Plan(nodes, function, function.module), frame, value)
        return trunk

    def _keep(self, trunk: Shell, plan: Plan, frame: Frame, value: Value) -> None:
        self._plans[trunk] = plan
        self._escaped.discard(trunk)
        if self._theory.is_of_root(frame):
            self._own[trunk] = value, frame

    def note_made(self, key: Hashable, made: Atoms) -> None:
        """Take note of a call that gives a trunk, or what holds one."""
        if any(shell in self._plans for shell in shells_in([made])):
            self.shared.add(key)

    # -- timm ------------------------------------------------------------------------------------------------------

    def _make_of_timm(self, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        full = text(arguments.argument(0, "model_name")) or ""
        name, _, tag = full.rpartition("/")[2].partition(".")
        known = facts.network_of_timm(name)
        if known is None or not arguments.is_complete or len(arguments.positional) > 2:
            return None
        if not arguments.keywords.keys() <= _OF_TIMM:
            return None
        only = arguments.keywords.get("features_only")
        if only is not None and only != (Constant(False),):
            return self._make_maps(known, arguments, frame, value) if only == (Constant(True),) else None
        classes = arguments.keywords.get("num_classes")
        if classes is None:
            classes = (Constant(known.classes),) if known.classes and not tag else PLAIN
        count = constant_of(classes)
        if classes != PLAIN and count is None:
            return None  # a number that may be 0, for a network without a head
        trunk = self.layer("Module", "", (), frame, value)
        trunk.set("num_features", (Constant(known.features),))
        trunk.set("num_classes", classes)
        function = frame.function
        assert function is not None
        steps = [facts.Node("pooled", ".", (known.width,))]
        head, _, inner = known.head.partition(".")
        if count == 0 and head and not inner and head not in _changed_elsewhere(function, self._run):
            trunk.set(head, (self.layer("Identity", head, (), frame, value),))
            steps.append(facts.Node(head, "I"))
        elif count == 0 and head:
            trunk.set(head, (self.layer("Module", head, (), frame, value),))
        elif count != 0:
            if not head or inner or head in _changed_elsewhere(function, self._run):
                steps.append(facts.Node("", "?"))
            else:
                layer = self.layer("Linear", head, ((Constant(known.width),), classes), frame, value)
                trunk.set(head, (layer,))
                steps.append(facts.Node(head, "L"))
        self._pooled[trunk] = known
        self._keep(trunk, Plan(tuple(steps), function, None), frame, value)
        return (trunk,)

    def _make_maps(self, known: facts.Pooled, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """A network that gives its maps (`features_only=True`)."""
        channels = known.channels
        wanted = arguments.keywords.get("out_indices")
        if wanted is not None:
            shell = wanted[0] if len(wanted) == 1 else None
            items = shell.items if isinstance(shell, Shell) and shell.is_container else None
            places = [constant_of(entry.atoms) for entry in items or ()]
            if not places or any(at is None or not -len(channels) <= at < len(channels) for at in places):
                return None
            channels = tuple(channels[at] for at in places if at is not None)
        if not channels:
            return None
        trunk = self.layer("Module", "", (), frame, value)
        entries = []
        for number, count in enumerate(channels):
            entry = self._shell("dict", f"info {number}", frame, value)
            entry.put(((Constant(count)),), (), "num_chs")
            entry.is_exact = False
            entries.append(entry)
        info = self._run.sequence("list", [(one,) for one in entries], value, frame, "info")
        trunk.set("feature_info", (info,))
        self._maps[trunk] = self._maps[info] = channels
        return (trunk,)

    # -- transformers ----------------------------------------------------------------------------------------------

    def _make_encoder(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        owner, _, way = name.rpartition(".") if name.endswith(("from_pretrained", "from_config")) else (name, "", "")
        cls = owner.rpartition(".")[2]
        published = text(arguments.argument(0, "pretrained_model_name_or_path")) if way == "from_pretrained" else None
        known = None if published is None else facts.encoder(published)
        if cls.endswith("Config"):
            return self._make_config(cls, way, known, arguments, frame, value)
        width = self._width_of_config(arguments.argument(0, "config")) if way != "from_pretrained" else ANY
        if known is not None and "config" not in arguments.keywords:
            width = Dim.of(known.width) if known.width else ANY
        if cls == "AutoModel":
            if known is None:
                return None
            cls = known.cls
        described = facts.encoder_class(cls)
        if described is None or (known is not None and known.cls != cls):
            return None
        if "hidden_size" in arguments.keywords:
            width = ANY
        pools = arguments.argument(1, "add_pooling_layer") if way == "" else arguments.keywords.get("add_pooling_layer")
        has_pool = described.pools and arguments.is_complete and pools in (None, (Constant(True),))
        trunk = self.layer("Module", "", (), frame, value)
        self._encoders[trunk] = Encoded(Dim(width.size, trunk.site), has_pool, described.keeps_length)
        trunk.set("config", (self._config(width, frame, value),))
        return (trunk,)

    def _make_config(
        self, cls: str, way: str, known: facts.Encoder | None, arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms | None:
        width = ANY
        if way == "from_pretrained":
            width = Dim.of(known.width) if known is not None and known.width else ANY
        elif way == "" and arguments.is_complete and not arguments.positional:
            described = facts.encoder_class(cls.removesuffix("Config") + "Model")
            width = Dim.of(described.width) if described is not None else ANY
        else:
            return None
        given = arguments.keywords.keys() & {"hidden_size", "dim", "n_embd", "d_model"}
        if given:
            count = constant_of(arguments.keywords[min(given)])
            width = ANY if count is None else Dim.of(count)
        return None if width.size is None else (self._config(width, frame, value),)

    def _config(self, width: Dim, frame: Frame, value: Value) -> Shell:
        config = self._shell("dict", "config", frame, value)
        self._configs[config] = width
        if width.size is not None:
            config.set("hidden_size", (Constant(width.size.constant),))
        return config

    def _width_of_config(self, given: Atoms | None) -> Dim:
        config = given[0] if given is not None and len(given) == 1 else None
        if not isinstance(config, Shell) or config not in self._configs:
            return ANY
        count = constant_of(config.get("hidden_size") or UNKNOWN)
        return ANY if count is None else Dim.of(count)

    # -- their parts -----------------------------------------------------------------------------------------------

    def attribute(self, shell: Shell, name: str) -> Atoms | None:
        """An attribute that is not known of an object of these packages."""
        is_class = name == "__class__" and shell.model is self._unread
        is_setting = shell in self._configs and shell.get(name) is None
        return UNKNOWN if is_class or is_setting else None

    def is_trunk(self, atoms: Atoms) -> bool:
        """True if a value may be a trunk, or a part of one whose class is not known."""
        return any(isinstance(atom, Shell) and atom.model is self._unread for atom in atoms)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a method of a trunk, or of one of its parts."""
        if isinstance(atom, Bound) and atom.name == "_modules" and name in ("values", "items"):
            owner, name = atom.owner, "children" if name == "values" else "named_children"
        else:
            owner = atom
        if not isinstance(owner, Shell):
            return None
        if owner in self._maps:
            return self._of_maps(self._maps[owner], name, arguments, frame, value)
        if owner in self._configs:
            return UNKNOWN
        if name in _LISTING and (owner in self._plans or self._is_row(owner)):
            return self._children(owner, name, frame, value)
        if name == "get_classifier" and owner in self._pooled:
            return owner.get(self._pooled[owner].head) or UNKNOWN
        if name == "reset_classifier" and owner in self._pooled:
            self._escaped.add(owner)
            owner.set(self._pooled[owner].head or "head", UNKNOWN)
        return None

    def _of_maps(
        self, channels: tuple[int, ...], name: str, arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms | None:
        if name != "channels" or arguments.positional or arguments.keywords:
            return None
        return (self._run.sequence("list", [(Constant(count),) for count in channels], value, frame, "channels"),)

    def _is_row(self, owner: Shell) -> bool:
        return owner.is_module_container and owner.items is not None

    def _children(self, owner: Shell, name: str, frame: Frame, value: Value) -> Atoms | None:
        """The parts of a trunk, or of a row of layers, in order; None if they are not known one by one."""
        named = list(self._named_children(owner))
        if any(child is None for _, child in named):
            return None
        found: list[Atoms] = []
        for key, atoms in named:
            assert atoms is not None
            if name == "named_children":
                pair = self._run.sequence("tuple", [(Constant(key),), atoms], value, frame, f"child {key}")
                found.append((pair,))
            else:
                found.append(atoms)
        return (self._run.sequence("generator", found, value, frame, "children"),)

    def _named_children(self, owner: Shell) -> Iterator[tuple[str, Atoms | None]]:
        if owner not in self._plans:
            for number, entry in enumerate(owner.entries):
                yield str(entry.key or number), layers_at(owner, number)
            return
        plan = self._plans[owner]
        names = [step.name for step in plan.steps if step.kind != "."]
        more = [store.name for store in owner.stores if store.name not in names]
        is_open = plan.module is None or not _deleted_in(plan.module).isdisjoint(names)
        if owner in self._pooled or is_open or not plan.is_known or None in more:
            yield "", None
        for key in dict.fromkeys([*names, *(one for one in more if one is not None)]):
            atoms = owner.get(key, self._run.path) or UNKNOWN
            is_head = owner in self._escaped and key == names[-1]
            if is_none(atoms):
                continue
            if key in names or any(isinstance(atom, Shell) and atom.is_layer for atom in atoms):
                yield key, UNKNOWN if is_head else atoms

    # -- calls -----------------------------------------------------------------------------------------------------

    def call(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a call of a trunk, or of a part of one; None for other layers."""
        while shell.origin is not None and shell not in self._plans and shell not in self._stages:
            shell = shell.origin
        given = next((arguments.keywords[name] for name in _FIRST if name in arguments.keywords), None)
        given = arguments.positional[0] if arguments.positional else given
        if shell in self._encoders:
            return self._states(self._encoders[shell], given, frame, value)
        if shell in self._maps:
            widths = [Dim(Size.of(count), shell.site) for count in self._maps[shell]]
            entries = [(Shaped(Shape((self._batch(given), width, ANY, ANY)), "float"),) for width in widths]
            return (self._run.sequence("list", entries, value, frame, "maps"),)
        if given is None or (shell not in self._stages and shell not in self._plans):
            return None
        if shell in self._stages:
            return self._through_stage(shell, given, frame, value)
        return self._through(shell, given, frame, value, is_called=True)

    def _through(self, trunk: Shell, given: Atoms, frame: Frame, value: Value, *, is_called: bool) -> Atoms:
        """The result of the parts of a trunk, one after the other."""
        plan, theory = self._plans[trunk], self._theory
        nothing = (Shaped(unknown(theory.key_of(value, frame)), "float"),)
        if not plan.is_known and trunk not in self._pooled:
            return nothing
        if trunk.get("forward") is not None or any(store.name is None for store in trunk.stores):
            return nothing
        if trunk in self._pooled and self._has_other_head(trunk, plan):
            return nothing
        outer = theory.row
        is_escaped = trunk in self._escaped
        for number, step in enumerate(plan.steps):
            if not step.is_called:
                continue
            if step.kind == ".":
                given = self._function(step, given, trunk, frame, value)
                continue
            atoms = trunk.get(step.name, self._run.path) or UNKNOWN
            layers = [atom for atom in atoms if isinstance(atom, Shell) and atom.is_layer]
            is_head = is_escaped and number == len(plan.steps) - 1 and all(one.value is trunk.value for one in layers)
            if not layers or len(layers) < len(atoms) or is_head:
                return nothing
            theory.row = Row(trunk, (number,), is_called) if outer is None else outer.inner(number)
            given = join(theory.call_layer(layer, Arguments((given,)), frame, value) for layer in layers) or UNKNOWN
        theory.row = outer
        return given

    def _has_other_head(self, trunk: Shell, plan: Plan) -> bool:
        """True if code may have put a head in a network of timm that was made without one, or of another shape."""
        head = self._pooled[trunk].head.partition(".")[0]
        if any(step.name == head for step in plan.steps):
            return False
        held = [atom for atom in trunk.get(head) or () if isinstance(atom, Shell)]
        names = {store.name for store in trunk.stores}
        return not names.isdisjoint({head, *_HEADS}) or any(layer.stores for layer in held)

    def _function(self, step: facts.Node, given: Atoms, trunk: Shell, frame: Frame, value: Value) -> Atoms:
        """The result of a function that a trunk calls between its parts."""
        if step.name == "relu":
            return given
        if step.name == "pooled":
            return (Shaped(Shape((self._batch(given), Dim(Size.of(step.numbers[0] or 0), trunk.site))), "float"),)
        found: list[Atom] = []
        for atom in given:
            tensor = self._theory.tensor_of(atom)
            shape = None if tensor is None else tensor.shape
            if shape is None or tensor is None or (shape.star is None and len(shape.head) != 4):
                return (Shaped(unknown(self._theory.key_of(value, frame)), "float"),)
            sides = shape.head if shape.star is None else shape.tail
            if step.name == "token":
                head = sides[:2] if shape.star is None else (ANY, sides[-3] if len(sides) > 2 else ANY)
            elif step.name == "pool":
                head = (
                    *(sides[:2] if shape.star is None else (ANY, sides[-3] if len(sides) > 2 else ANY)),
                    Dim.of(1),
                    Dim.of(1),
                )
            else:
                row = shape_row("torch.flatten")
                assert row is not None
                slots: tuple[Atoms, ...] = ((atom,), (Constant(1),))
                found += self._theory.call_operator(row, slots, Arguments(slots), frame, value)
                continue
            found.append(Shaped(Shape(tuple(head)), tensor.dtype))
        return tuple(found)

    def _through_stage(self, shell: Shell, given: Atoms, frame: Frame, value: Value) -> Atoms:
        stage = self._stages[shell]
        if stage.conv is not None:
            given = self._theory.call_layer(stage.conv, Arguments((given,)), frame, value)
        elif stage.kind == "?":
            return (Shaped(unknown(self._theory.key_of(value, frame)), "float"),)
        found: list[Atom] = []
        for atom in given:
            tensor = self._theory.tensor_of(atom)
            head = () if tensor is None or tensor.shape.star is not None else tensor.shape.head
            if tensor is None or (len(head) != 4 and (stage.kind in "P^" or stage.is_moved)):
                found.append(Shaped(unknown(self._theory.key_of(value, frame)), "float"))
            elif stage.kind == "P":
                found.append(Shaped(Shape((head[0], head[3], head[1], head[2])), tensor.dtype))
            elif stage.kind == "^":
                found.append(Shaped(Shape((head[0], ANY, ANY, head[1])), tensor.dtype))
            else:
                found.append(Shaped(Shape((head[0], head[1], ANY, ANY)), tensor.dtype) if stage.is_moved else tensor)
        return tuple(found)

    def _states(self, encoder: Encoded, given: Atoms | None, frame: Frame, value: Value) -> Atoms:
        """The output of an encoder: its states, and a pooled one."""
        tensor = None if given is None else self._theory.tensor_in(given)
        head = () if tensor is None or tensor.shape.star is not None else tensor.shape.head
        batch = head[0] if len(head) in (2, 4) else ANY
        length = head[1] if encoder.keeps_length and len(head) in (2, 3) else ANY
        states: Atoms = (Shaped(Shape((batch, length, encoder.width)), "float"),)
        pooled: Atoms = (Shaped(Shape((batch, encoder.width)), "float"),) if encoder.pools else UNKNOWN
        output = self._run.sequence("tuple", [states, pooled], value, frame, "output")
        output.is_exact = False
        output.set("last_hidden_state", states)
        output.set("pooler_output", pooled)
        self._outputs[output] = states, pooled
        return (output,)

    def _batch(self, given: Atoms | None) -> Dim:
        """The number of images that a trunk gets."""
        tensor = None if given is None else self._theory.tensor_in(given)
        shape = None if tensor is None else tensor.shape
        return shape.head[0] if shape is not None and shape.head and len(shape.head) != 3 else ANY

    def output(self, shell: Shell, index: Atoms | None) -> Atoms | None:
        """An entry of an encoder's output; None if the object is none."""
        known = self._outputs.get(shell)
        if known is None:
            return None
        name, at = text(index), None if index is None else constant_of(index)
        if name is not None:
            return shell.get(name) or UNKNOWN
        return known[at] if at in (0, 1) else UNKNOWN

    # -- what is told of them --------------------------------------------------------------------------------------

    def escape(self, arguments: Arguments) -> None:
        """Take note of trunks that unknown code gets."""
        if self._plans:
            self._escaped.update(
                a for atoms in arguments.all() for a in atoms if isinstance(a, Shell) and a in self._plans
            )

    def call_own(self, root: Function) -> Iterator[tuple[Value, Frame, Callable[[], object]]]:
        """The calls to try of trunks that a root made and whose parts it replaced, each with where it is made."""
        for trunk, (value, frame) in self._own.items():
            plan = self._plans[trunk]
            names = {step.name for step in plan.steps}
            stores = [store for store in trunk.stores if store.name in names or store.name is None]
            inner = [part for part in self._rows_in(trunk) if _has_stores(part) or self._has_other_parts(part, trunk)]
            if (not stores and not inner) or not all(store.is_sure for store in stores):
                continue
            if plan.maker is None or not plan.is_known:
                continue
            if self._is_split(trunk, _text_around(plan.maker, root, self._run.project)):
                continue
            path = stores[-1].path if stores else ()
            yield value, frame, self._trial(trunk, path, frame, value)
        self._own.clear()

    def _trial(self, trunk: Shell, path: Path, frame: Frame, value: Value) -> Callable[[], object]:
        def call() -> None:
            outer, self._run.path = self._run.path, path
            image: Atoms = (Shaped(unknown(("trunk", id(value)))),)
            self._through(trunk, image, frame, value, is_called=False)
            self._run.path = outer

        return call

    def _rows_in(self, trunk: Shell) -> Iterator[Shell]:
        for step in self._plans[trunk].steps:
            for atom in trunk.get(step.name) or ():
                if isinstance(atom, Shell) and atom.is_module_container:
                    yield atom

    @staticmethod
    def _has_other_parts(row: Shell, trunk: Shell) -> bool:
        """True if code put layers of its own in a row of a trunk."""
        held = [atom for entry in row.entries for atom in entry.atoms if isinstance(atom, Shell)]
        return any(layer.value is not trunk.value for layer in held)

    def _is_split(self, trunk: Shell, said: str) -> bool:
        """True if code in a file may call parts of a trunk one by one."""
        steps = [step for step in self._plans[trunk].steps if step.name and step.kind != "."]
        body = "|".join(step.name for step in steps[:-1])
        head = steps[-1].name if steps else ""
        inner = rf"|\.\s*(?:{body})\b{_IDLE}" if body else ""
        return re.search(rf"{_SPLITTING}|\.\s*{head}\s*\({inner}", said) is not None


class _Making:
    """Makes the layers of a trunk."""

    def __init__(
        self, trunks: Trunks, classes: Atoms, is_moved: bool, is_adapted: bool, frame: Frame, value: Value
    ) -> None:
        self._trunks, self._classes, self._is_moved = trunks, classes, is_moved
        self._is_adapted, self._frame, self._value = is_adapted, frame, value

    def layer(self, node: facts.Node, path: str) -> Shell:
        trunks, frame, value = self._trunks, self._frame, self._value
        if node.kind == "(":
            row = trunks.layer("Sequential", path, (), frame, value)
            row.clear()
            row.is_exact = True
            for number, part in enumerate(node.parts):
                row.put((self.layer(part, f"{path}.{part.name or number}"),), (), part.name or None)
            return row
        if node.kind in _CLASSES:
            return trunks.layer(_CLASSES[node.kind], path, self._slots(node), frame, value)
        return self._stage(node, path)

    def _slots(self, node: facts.Node) -> tuple[Atoms, ...]:
        """The arguments of a layer's constructor, by position."""
        slots: list[Atoms] = [self._classes if one is None else (Constant(one),) for one in node.numbers]
        stride = {"C": 3, "M": 1}.get(node.kind)
        if node.kind == "C" and node.numbers[0] == _COLOURS and self._is_adapted:
            slots[0] = PLAIN
        if stride is not None and self._is_moved:
            slots[stride:] = [PLAIN] * max(len(slots) - stride, 1)
        elif node.kind == "M" and len(node.numbers) > 3:
            slots[3:] = [(Constant(1),), (Constant(value=False),), (Constant(value=True),)]
        return tuple(slots)

    def _stage(self, node: facts.Node, path: str) -> Shell:
        """A part of unknown code, with the convolution that gives tensors of the same shape."""
        trunks, frame, value = self._trunks, self._frame, self._value
        found = trunks.layer("Module", path, (), frame, value)
        conv = None
        is_moved = self._is_moved
        if node.kind in "~^":
            first, last, *more = node.numbers
            step = more[0] if more else 1
            is_moved = is_moved or step == 0
            width = PLAIN if first == _COLOURS and self._is_adapted else (Constant(first),)
            kernel, stride = (-step, -step) if step is not None and step < 0 else (1, step or 1)
            slots: tuple[Atoms, ...] = (width, (Constant(last),), (Constant(kernel),), (Constant(stride),))
            conv = trunks.layer("Conv2d", f"{path}:", slots, frame, value)
        trunks.add_stage(found, Stage(node.kind, conv, is_moved))
        return found


def _is_packaged(module: ModuleFacts) -> bool:
    """True for a file of an installed package, wherever that is installed."""
    return not _FOLDERS.isdisjoint(module.file.parts)


def _text_around(maker: Function, root: Function, project: Project) -> str:
    """The code that may use a trunk of a root: of its family, of the file, or of the file without its classes."""
    module, owner = maker.module, maker.owner
    if maker is module.body or maker is not root:
        return module.code
    if owner is None:
        return "\n".join(function.text for function in module.functions.values())
    members = project.of(Members)
    family = dict.fromkeys(base for cls in (owner, *subclasses(project, owner)) for base in members.mro(cls))
    return "\n".join(function.text for cls in family for function in cls.methods.values())


def _without(arguments: Arguments, name: str) -> dict[str, Atoms]:
    return {key: atoms for key, atoms in arguments.keywords.items() if key != name}


def _has_stores(row: Shell) -> bool:
    """True if code stores layers in a row by their numbers or names (`row._modules["6"] = …`)."""
    return bool(row.stores)


def _changed_elsewhere(maker: Function, run: Interpreter) -> frozenset[str]:
    """The names of parts that another function of the file may replace in a trunk that a function makes."""
    names: set[str] = set()
    module, owner = maker.module, maker.owner
    for function in (*module.all_functions(), module.body):
        if function is maker:
            continue
        for found, root in function.flow.once(_replaced_parts):
            if not is_self(root):
                names.update(() if _is_made_by_trunks(root, module, run) else found)
            elif len(found) > 2:
                names.update(found[:-1])
            else:
                other = function.owner
                lineage = () if owner is None or other is None else run.classes.model(other).mro()
                names.update(found[:1] if not lineage or any(one.cls is owner for one in lineage) else ())
    return frozenset(names)


def _is_made_by_trunks(root: Value, module: ModuleFacts, run: Interpreter) -> bool:
    """True if a value is the trunk that the function itself makes."""
    if root.op is Op.CHOICE:
        return all(_is_made_by_trunks(one, module, run) for one in root.args)
    if root.op is not Op.CALL:
        return False
    made = run.project.names.definition(module, root.callee)
    name = made.name if isinstance(made, External) else ""
    if isinstance(made, DefinedFunction):
        name = f"{made.function.module.name}.{made.function.name}"
    return facts.may_be_trunk(name)


def _deleted_in(module: ModuleFacts) -> frozenset[str]:
    """The names of parts that code of a file deletes, or of which it deletes entries."""
    functions = (*module.all_functions(), module.body) if "del " in module.code else ()
    return frozenset(name for function in functions for name in function.flow.once(_deleted_parts))


def _deleted_parts(flow: Flow) -> frozenset[str]:
    """The attributes that a body deletes, or takes entries out of."""
    targets = (event.target for event in flow.of(EventKind.DELETE) if event.target is not None)
    return frozenset(str(part.data) for target in targets for part in target.walk() if part.op is Op.ATTR)


def _replaced_parts(flow: Flow) -> tuple[tuple[tuple[str, ...], Value], ...]:
    """The attributes that a body sets of parts of an object, or entries of them: the names from its end, the object."""
    found = []
    for event in flow.of(EventKind.STORE):
        names: list[str] = []
        target = event.target
        while target is not None and target.op in (Op.ATTR, Op.INDEX):
            if target.op is Op.ATTR:
                names.append(str(target.data))
            target = target.args[0]
        if target is not None and len(names) > is_self(target) and _SETTINGS.isdisjoint(names[:1]):
            found.append((tuple(names), target))
    return tuple(found)
