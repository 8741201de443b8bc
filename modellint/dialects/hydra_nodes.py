"""Nodes of `HydraConf` that Hydra adds to each configuration it composes, in any of its releases.

A file that has a `hydra:` node only adds to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The keys of a node with the nodes below; None for a node with any keys.
Nodes = Union["Mapping[str, Nodes]", None]

#: The key that they stand under.
HYDRA = "hydra"


def _leaves(*names: str) -> Mapping[str, Nodes]:
    return dict.fromkeys(names)


_NODES: Mapping[str, Nodes] = {
    **_leaves("callbacks", "defaults", "env", "hydra_logging", "job_logging", "launcher", "mode", "output_subdir"),
    **_leaves("searchpath", "sweeper", "verbose"),
    "help": _leaves("app_name", "footer", "header", "template"),
    "hydra_help": _leaves("hydra_help", "template"),
    "job": {
        **_leaves(
            "chdir", "config_file", "config_name", "env_copy", "env_set", "id", "name", "num", "override_dirname"
        ),
        "config": {"override_dirname": _leaves("exclude_keys", "item_sep", "kv_sep")},
    },
    "overrides": _leaves("hydra", "task"),
    "run": _leaves("dir"),
    "runtime": _leaves("choices", "config_sources", "cwd", "output_dir", "version", "version_base"),
    "sweep": _leaves("dir", "subdir"),
}


def nodes_below(keys: Sequence[object]) -> Nodes:
    """The nodes that Hydra adds below the keys of a node, from the top of a configuration; None for any keys."""
    if not keys or keys[0] != HYDRA:
        return {}
    nodes: Nodes = _NODES
    for key in keys[1:]:
        if nodes is None:
            return None
        nodes = nodes[key] if isinstance(key, str) and key in nodes else {}
    return nodes
