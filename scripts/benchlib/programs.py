"""The measuring programs in C, compiled into the cache folder when their source is newer."""

import os
import shlex

from .processes import run

SOURCES = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = "/usr/share/doc/libfuse3-dev/examples"  # of libfuse
FUSE_SERVERS = {"floor": SOURCES, "passthrough_ll": EXAMPLES}


def compiled(name, directory):
    """The path of the program made from NAME.c."""
    source = os.path.join(FUSE_SERVERS.get(name, SOURCES), name + ".c")
    program = os.path.join(directory, name)
    if os.path.exists(program) and os.path.getmtime(program) > os.path.getmtime(source):
        return program
    os.makedirs(directory, exist_ok=True)
    flags = shlex.split(run(["pkg-config", "--cflags", "--libs", "fuse3"])) if name in FUSE_SERVERS else []
    run(["cc", "-O2", "-o", program, source, *flags])
    return program
