"""The environment variables of a process that runs models."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Where libraries keep caches and temporary files. Without a TMPDIR that can be written to, torch cannot be imported.
_FOLDERS = (
    "HOME TMPDIR TEMP TMP XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME TORCH_HOME TORCHINDUCTOR_CACHE_DIR "
    "TORCH_EXTENSIONS_DIR TRITON_CACHE_DIR NUMBA_CACHE_DIR MPLCONFIGDIR HF_HOME JOBLIB_TEMP_FOLDER"
).split()
#: A compiled module runs as it is written: the guard lets nobody start a compiler.
_FIXED = {
    "TORCH_COMPILE_DISABLE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "CUDA_LAUNCH_BLOCKING": "1",
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}


def environment(scratch: str, device: str) -> Mapping[str, str]:
    """Ours, with caches of libraries in the scratch folder, and no GPU unless `device` is "cuda"."""
    changes = {**folders(scratch), **_FIXED}
    if device != "cuda":
        changes["CUDA_VISIBLE_DEVICES"] = ""
    return {**os.environ, **changes}


def folders(scratch: str) -> dict[str, str]:
    """The variables that put caches and temporary files into a scratch folder."""
    return dict.fromkeys(_FOLDERS, scratch)
