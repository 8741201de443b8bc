"""What the rules of the pack share."""

from modellint.graph.value import EventKind
from modellint.link.names import External


def calls_of(name, module, project):
    """Each function and call of the class or function with this full name."""
    for function in module.all_functions():
        for event in function.flow.of(EventKind.CALL):
            if project.names.definition(module, event.value.callee) == External(name):
                yield function, event.value
