"""Edits of text: how rules write them, and how they are applied to a file with the proof that nothing else changed.

Begin with `changes.py`, then `files.py`; `python.py` and `yaml.py` are what rules write edits with.
It imports `finding.py`, `frontends/`, `graph/`, `lazy.py`, `operators/`, `source.py`.
"""

from typing import TYPE_CHECKING

from modellint.lazy import lazily

if TYPE_CHECKING:
    from modellint.source import plain_text as plain_text

    from .lengths import maximum_of_all as maximum_of_all
    from .lengths import one_inside as one_inside
    from .python import argument_place as argument_place
    from .python import assigned as assigned
    from .python import blocks as blocks
    from .python import clamped as clamped
    from .python import constant_places as constant_places
    from .python import exchanged as exchanged
    from .python import is_atom as is_atom
    from .python import nn_name as nn_name
    from .python import place_in as place_in
    from .python import swapped as swapped
    from .python import text_at as text_at
    from .python import written as written
    from .similar import get_close_matches as get_close_matches
    from .similar import slip as slip
    from .yaml import add_reference as add_reference
else:
    __getattr__ = lazily(
        __name__,
        {
            "modellint.source": "plain_text",
            ".lengths": "maximum_of_all one_inside",
            ".python": "argument_place assigned blocks clamped constant_places exchanged "
            "is_atom nn_name place_in swapped text_at written",
            ".similar": "get_close_matches slip",
            ".yaml": "add_reference",
        },
    )
