"""Limits of the operating system on a child process with user code: it may read, compute and write to a scratch folder.

`launch.py` runs first in the child, with the linter's own interpreter and nothing but the standard library. It gives up
one right after another, and then becomes the project's interpreter, which keeps all of these limits and needs no
package for them.

Begin with `launch.py`; `landlock.py` and `seccomp.py` are its locks.
It imports nothing else of modellint.
"""
