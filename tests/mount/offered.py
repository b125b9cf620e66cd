"""What the program's --help offers: its commands, and their options. Documents and completions are held to it."""

import re

from mounting import onnxfs

HELP = {"-h", "--help"}


def help_of(*command):
    done = onnxfs(*command, "--help")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def commands():
    """In the order of `onnxfs --help`, whose second paragraph has a line for each."""
    found = re.findall(r"^  ([a-z]+) ", help_of().split("\n\n")[1], re.MULTILINE)
    assert len(found) >= 6, help_of()
    return found


def options(command):
    """As they are typed, with their dashes."""
    found = set()
    for line in help_of(command).splitlines():
        names = re.match(r"  (-[^ ]+)", line)
        found.update(names[1].split(",") if names else ())
    assert HELP <= found
    return found


def hold_to_help(documented):
    """`documented`: the options of each command. Fails for what is missing in it, and for what does not exist."""
    offered = {command: options(command) for command in commands()}
    assert set(offered) == set(documented)
    for command, its_options in offered.items():
        assert its_options == documented[command], command
