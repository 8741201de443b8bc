"""ML209: a layer that is used in training and that no optimizer trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.link.recipes import queries
from modellint.rule import Rule, called_probe, file_probe, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project

    from .beside import Beside
    from .borrowed import Borrowed
    from .data import OfData
    from .optimised import LeftOut
    from .used_up import Kept, UsedUp

    _Claims = claims.NotTrained | claims.NotListed | claims.InNoGroup | claims.NothingToTrain | claims.Refused


class LayerNotOptimised(Rule):
    """A layer is used in training, but no optimizer has its parameters

    ## What it does
    Some code passes an optimizer the parameters of each child of a model (`model.embed.parameters()`, …), or groups of
    `named_parameters()` that it picks by name. The rule compares them with the children that the model registers. It
    reports a child that the model calls, if the optimizers of the file get all other children and nothing freezes this
    one, and several such children, if the last of the model is among them. It also reports a layer that a model gets
    only after an optimizer was created from its parameters, and a model that a function, a script or a trainer makes
    beside optimizers of other models, if its loss goes backward there and nothing freezes, loads or asks for its
    parameters. The optimizer may be one that another file makes for a model of its own. It reports an optimizer of a
    list of tensors that need no gradient, such as the data.

    In functions that make an optimizer, reports a generator (`net.named_parameters()`) that something uses up before
    the optimizer gets parameters from it, and a list that a loop fills with parameters, beside one that the optimizer
    gets, and that nothing reads.

    In a recipe, checks each layer in `modules` that the script computes gradients with, if the Brain creates its
    optimizers itself (`init_optimizers`) and the rule knows which parameters each of them gets. Skips frozen layers,
    layers whose weights a `Pretrainer` loads, and layers used without gradients.

    ## Why is this bad
    The layer keeps its random initial weights: autograd computes its gradients, and no optimizer applies them. There is
    no error. The loss falls as far as the other layers allow, and the model stays worse than it should be.

    ## How to fix
    Add the parameters of the layer to the list, or pass those of the whole model:

    ```python
    torch.optim.Adam(model.parameters(), lr=1e-3)
    ```

    If the layer should not learn, freeze it.

    ## References
    - [Per-parameter options](https://pytorch.org/docs/stable/optim.html#per-parameter-options)
    """

    code = "ML209"
    name = "layer-not-optimised"
    severity = Severity.WARNING
    requires = ("recipes", "untrained_layers")
    about = ("torch.optim.Optimizer",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .beside import Beside
        from .data import optimizers_of_data
        from .optimised import left_out

        for of_data in optimizers_of_data(module, project):
            yield self._of_data(of_data)
        from .used_up import Kept, used_up

        for lost in used_up(module, project):
            yield self._of_list(lost) if isinstance(lost, Kept) else self._of_generator(lost)
        for found in left_out(module, project):
            yield self._of_model(found) if isinstance(found, Beside) else self._report(found)
        if "backward" in module.text and "step" in module.text:
            from .borrowed import models_without_optimizer

            for borrowed in models_without_optimizer(module, project):
                yield self._of_borrower(borrowed)
        for recipe in queries.script(module, project).recipes:
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        for shortfall in queries.about(recipe, project).untrained_layers():
            yield self._untrained_finding(shortfall)

    def probe(self, claim: _Claims, project: Project) -> Probe | None:
        """Make the optimizers as the code does, and look for the layer's parameters among those that they are given."""
        if isinstance(claim, claims.NothingToTrain | claims.Refused):
            return called_probe(claim, project)
        if isinstance(claim, claims.InNoGroup):
            return file_probe(claim, claim.function)
        if isinstance(claim, claims.NotListed):
            return file_probe(claim, claim.owner if claim.child else claim.function)
        return recipe_probe(claim, project)

    def _untrained_finding(self, shortfall: queries.Shortfall) -> Finding:
        layer, use, trained = shortfall.layer, shortfall.use, shortfall.registration.trained
        optimizers = trained.optimizers if trained is not None else {}
        reach, is_certain = shortfall.registration.reach, shortfall.is_certain
        given = ", ".join(f"`{name}`" for name in optimizers)
        related = [Related(place, "an optimizer is made here") for place in dict.fromkeys(optimizers.values())]
        return self.finding(
            layer.place,
            f"`{layer.path}` is used in training, but no optimizer is given its parameters",
            symbol=layer.path,
            confidence=Confidence.HIGH if is_certain else Confidence.LOW,
            evidence=(
                f"`{layer.target}` has parameters to train, and nothing freezes it",
                f"`{use.function}` uses `{use.text}` where gradients are computed",
                f"the optimizers are made with {given}, all for other modules",
            ),
            related=[*related, Related(use.place, f"used here, in `{use.function}`")],
            help=f"give the parameters of `{layer.path}` to one of the optimizers, or freeze it",
            # If it is not certain, what is in doubt is if this Brain trains it.
            claim=_claim(reach.brain, layer.place, layer.path) if is_certain and reach is not None else None,
        )

    def _of_data(self, found: OfData) -> Finding:
        module = found.function.module
        return self.finding(
            module.place(found.optimizer),
            "the optimizer is given only tensors that need no gradient: it changes nothing",
            symbol=f"{found.function.qualname}.{module.text_of(found.optimizer.callee)[:40]}",
            confidence=Confidence.HIGH,
            evidence=("nothing in the file asks for their gradients",),
            related=[Related(module.place(made), "this tensor is made without `requires_grad`") for made in found.made],
            help="give it the parameters that the loss depends on, or make the tensor with `requires_grad=True`",
            claim=claims.NothingToTrain(module.place(found.optimizer)),
        )

    def _of_generator(self, found: UsedUp) -> Finding:
        module = found.function.module
        name = f"`{found.generator.target}`" if found.generator.target else "this generator"
        place = module.place(found.second)
        return self.finding(
            place,
            f"{name} is used up before this: the optimizer is given no parameter here",
            symbol=f"{found.function.qualname}.{found.generator.target or ''}",
            confidence=Confidence.HIGH,
            severity=Severity.ERROR if found.is_all else None,
            evidence=(
                "a generator gives its elements once"
                + ("; torch raises `ValueError: optimizer got an empty parameter list`" if found.is_all else ""),
            ),
            related=(
                Related(module.place(found.first), "all elements are taken here"),
                Related(module.place(found.generator), "the generator is made here"),
            ),
            help="make a list of it first",
            claim=claims.Refused(place, "ValueError", "empty parameter list") if found.is_all else None,
        )

    def _of_list(self, found: Kept) -> Finding:
        module = found.function.module
        name = module.text_of(found.filled.callee).partition(".")[0]
        return self.finding(
            module.place(found.filled),
            f"the parameters in `{name}` are given to no optimizer: nothing reads the list",
            symbol=f"{found.function.qualname}.{name}",
            confidence=Confidence.MEDIUM,
            evidence=("another list of the same loop is given to one",),
            related=(Related(module.place(found.optimizer), "the optimizer is made here"),),
            help="make a group of them, too",
        )

    def _of_borrower(self, found: Borrowed) -> Finding:
        module, optimizer = found.function.module, found.optimizer
        name = f"`{found.name}`" if found.name else "this model"
        return self.finding(
            module.place(found.made),
            f"the loss of {name} goes backward, but no optimizer is given its parameters",
            symbol=found.name,
            confidence=Confidence.MEDIUM,
            evidence=(
                f"`{optimizer.name}` of `{optimizer.module.name}` is given those of a model that is made there",
                "nothing in the file freezes it",
            ),
            related=(
                Related(module.place(found.backward), "`backward()` is called here"),
                Related(optimizer.module.place(optimizer.value), "the optimizer is made here"),
            ),
            help=f"make an optimizer of the parameters of {name}",
        )

    def _of_model(self, found: Beside) -> Finding:
        value, optimizer = found.layer.value, found.optimizer
        assert value is not None
        assert found.layer.function is not None
        module = found.layer.function.module
        return self.finding(
            module.place(value),
            f"the loss of `{found.name}` goes backward, but no optimizer is given its parameters",
            symbol=found.name,
            confidence=Confidence.MEDIUM,
            evidence=(
                f"the optimizers are given those of {', '.join(f'`{name}`' for name in found.given) or 'others'}",
                "nothing in the file freezes it",
            ),
            related=(
                Related(module.place(found.backward), "`backward()` is called here"),
                Related(module.place(optimizer.call), "an optimizer is made here"),
            ),
            help=f"give the parameters of `{found.name}` to an optimizer, or freeze it",
            claim=claims.InNoGroup(module.place(value), module.place(found.backward), _run_of(found)),
        )

    def _report(self, found: LeftOut) -> Finding:
        optimizer, start = found.optimizer, found.start
        assert found.made.value is not None
        assert found.made.function is not None
        assert optimizer.function is not None
        module = optimizer.function.module
        function = start if start.module is module and start is not module.body else optimizer.function
        place = module.place(optimizer.call)
        listed = ", ".join(f"`{name}`" for name in found.listed)
        said = f"the other layers are listed one by one: {listed}"
        told, remedy = "the parameters are listed here", "to the list, or pass those of the whole model"
        if found.is_late:
            said = "an optimizer holds the parameters that its model had when it was made"
            told, remedy = (
                "the optimizer is made here, earlier",
                "with `add_param_group`, or make the optimizer afterwards",
            )
        if isinstance(found.cls, str):
            symbol, user = found.child, function.name
            claim = claims.NotListed(place, found.cls, "", function.qualname)
        else:
            symbol, user = f"{found.cls.name}.{found.child}", found.cls.name
            claim = claims.NotListed(place, found.cls.qualname, found.child, function.qualname)
        subject = f"what `{found.child}` gets here" if found.is_part else f"`{found.child}`"
        others = " and ".join(f"`{name}`" for name in found.others)
        subject, verb = (f"{subject} and {others}", "are") if others else (subject, "is")
        return self.finding(
            found.made.function.module.place(found.made.value),
            f"{subject} {verb} used by `{user}`, but no optimizer is given {'their' if others else 'its'} parameters",
            symbol=symbol,
            confidence=Confidence.MEDIUM,
            evidence=(said, "nothing in the file freezes it"),
            related=(Related(place, told),),
            help=f"add {'their parameters' if others else f'the parameters of `{found.child}`'} {remedy}",
            claim=claim,
        )


def _run_of(found: Beside) -> str:
    """The name of the function to run: it calls `backward`; empty for code outside of functions."""
    is_function = found.function is not found.function.module.body
    return found.function.qualname if is_function else ""


def _claim(brain: queries.BrainUse, place: Place, key: str) -> claims.NotTrained | None:
    """The claim that a Brain does not train the layer under `key`; None for one that makes no optimizers itself."""
    if brain.method("init_optimizers") is None:
        return None
    return claims.NotTrained(place, key, brain.module.path, brain.classes[0].qualname)
