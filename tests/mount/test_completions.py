"""Completions for bash, zsh and fish: they offer what the program has, and nothing else. All are run."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

import pytest
from mounting import BINARY, REPOSITORY, run
from onnx_wire import FLOAT, graph, tensor, write_model
from offered import HELP, commands, hold_to_help, options

FOLDER = REPOSITORY / "share" / "completions"
BASH, ZSH, FISH = FOLDER / "onnxfs.bash", FOLDER / "_onnxfs", FOLDER / "onnxfs.fish"

COMPLETE = """
source "$1"; shift
COMP_LINE=$1 COMP_POINT=${#1}; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_onnxfs
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
"""


def split(line):
    """The words of a command line as readline splits them: at spaces that are not quoted, and around ':' and '='."""
    words = re.findall(r"""[:=]+|(?:\\.|'[^']*'?|"[^"]*"?|[^\s:=\\'"])+""", line)
    return words + [""] if line.endswith(" ") and not line.endswith("\\ ") else words


@pytest.fixture
def complete(tmp_path, monkeypatch):
    """What bash offers for a command line that ends at the cursor. `tensors`: what `onnxfs ls --paths` prints."""
    here = tmp_path / "here"
    here.mkdir()

    def complete(line, tensors=()):
        program = tmp_path / "onnxfs"
        listing = "\n".join(tensors)
        edited = "\n".join(["1 edited tensor in m", *(f"{name}\tpayload\tnow" for name in tensors if name in complete.edited)])
        program.write_text(f"""#!/bin/sh
case "$*" in
"ls --paths -- {here / 'm.onnx'}") cat <<"END" ;;
{listing}
END
"status -- {here / 'm.onnx'}") cat <<"END" ;;
{edited}
END
*) exit 1 ;;
esac
""")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        done = run("bash", "--norc", "-c", COMPLETE, "bash", BASH, line, *split(line), cwd=here)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout.splitlines()

    complete.folder = here
    complete.edited = TENSORS
    return complete


def test_bash_offers_what_there_is(complete):
    offered = complete("onnxfs ")
    hold_to_help({command: set(complete(f"onnxfs {command} -")) for command in offered})
    assert complete("onnxfs unmount -") == complete("onnxfs umount -")
    assert complete("onnxfs -") == complete("onnxfs m.onnx mnt -") == complete("onnxfs mount -")


def test_bash_models(complete):
    for name in ("m.onnx", "n.pb", "notes.txt", "my model.onnx"):
        (complete.folder / name).touch()
    (complete.folder / "models").mkdir()
    assert set(complete("onnxfs check ")) == {"m.onnx", "n.pb", "my model.onnx", "models"}
    assert set(complete("onnxfs m")) == {"mount", "m.onnx", "my model.onnx", "models"}
    assert complete("onnxfs mount m.onnx ") == complete("onnxfs m.onnx ") == ["models"]
    assert complete(r"onnxfs status my\ ") == complete("onnxfs status 'my m") == ["my model.onnx"]
    assert complete("onnxfs status m.onnx ") == []
    assert complete("onnxfs check m.onnx n") == ["n.pb"]


def test_bash_values_of_options(complete):
    (complete.folder / "edits").mkdir()
    (complete.folder / "out.txt").touch()
    assert complete("onnxfs status --sidecar ") == ["edits"]
    assert set(complete("onnxfs commit -o ")) == {"edits", "out.txt"}
    assert complete("onnxfs m.onnx mnt -o allow_o") == ["allow_other"]
    assert complete("onnxfs m.onnx mnt -o ro,um") == ["ro,umask="]
    assert complete("onnxfs ls --sort ") == ["path", "size"]


TENSORS = ["initializers/a b.bin", "initializers/conv1.bin", "functions/f:one/w.bin", "functions/f:two/x=1.bin"]


def test_bash_tensors(complete):
    model = complete.folder / "m.onnx"
    for command in ("discard", "ls", "stats"):
        assert complete(f"onnxfs {command} {model} ", TENSORS) == TENSORS
    assert complete(f"onnxfs discard {model} init", TENSORS) == TENSORS[:2]
    assert complete(f"onnxfs discard --sidecar s {model} {TENSORS[1]} initializers/a", TENSORS) == TENSORS[:1]
    assert complete(f"onnxfs discard '{model}' initializers/a\\ ", TENSORS) == TENSORS[:1]
    assert complete("onnxfs discard none.onnx ", TENSORS) == []


def test_bash_names_of_tensors(complete):
    model = complete.folder / "m.onnx"
    assert complete(f"onnxfs ls {model} conv", TENSORS) == ["conv1.bin"]
    assert complete(f"onnxfs stats {model} none", TENSORS) == []


def test_bash_discard_offers_what_is_edited(complete):
    model = complete.folder / "m.onnx"
    complete.edited = TENSORS[1:2]
    assert complete(f"onnxfs discard {model} ", TENSORS) == TENSORS[1:2]
    complete.edited = []
    assert complete(f"onnxfs discard {model} ", TENSORS) == []


def test_bash_tensors_with_what_readline_splits_at(complete):
    """It replaces only what is behind the last of its breaks."""
    model = complete.folder / "m.onnx"
    assert complete(f"onnxfs discard {model} functions/f:", TENSORS) == ["one/w.bin", "two/x=1.bin"]
    assert complete(f"onnxfs discard {model} functions/f:t", TENSORS) == ["two/x=1.bin"]
    assert complete(f"onnxfs discard {model} functions/f:two/x=", TENSORS) == ["1.bin"]


def test_bash_mounts(complete, mount, tmp_path):
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [1], raw=b"1234")]))
    with mount(tmp_path / "m.onnx") as mnt:
        assert str(mnt.path) in complete("onnxfs umount ")
        assert complete(f"onnxfs umount {mnt.path.parent}/") == [str(mnt.path)]


def test_real_tensors(workplace):
    """What completions ask the program for."""
    if "ls" not in commands():
        pytest.skip("this onnxfs has no `ls`")
    done = workplace("onnxfs ls --paths -- sample.onnx")
    assert done.returncode == 0, done.stderr
    assert "initializers/conv1.weight" in [line.removesuffix(".bin") for line in done.stdout.splitlines()]


def zsh_options(part):
    found = set()
    for group, single in re.findall(r"\{([^}]*)\}'\[|['*)](--?[\w-]+)\[", part):
        found.update(group.split(",") if group else [single])
    return found | (HELP if "$help" in part else set()) | ({"--sidecar"} if "$sidecar" in part else set())


def test_zsh_offers_what_there_is():
    text = ZSH.read_text(encoding="utf-8")
    parts = re.findall(r"^    ([a-z]+)(?: \| unmount)?\)\n(.*?);;$", text, re.MULTILINE | re.DOTALL)
    hold_to_help({command: zsh_options(part) for command, part in parts})
    assert re.findall(r"^    '([a-z]+):", text, re.MULTILINE) == [command for command, _ in parts]


def test_fish_offers_what_there_is():
    text = FISH.read_text(encoding="utf-8")
    documented = {command: set() for command in re.findall(r"-n __fish_use_subcommand -a ([a-z]+) ", text)}
    for words, letter, name in re.findall(
            r"^complete -c onnxfs (?:-n '__onnxfs_is ([a-z ]+)' )?(?:-s (\w) ?)?(?:-l ([\w-]+) )?", text, re.MULTILINE):
        for command in words.split() or documented:
            if command != "unmount":
                documented[command] |= {f"-{letter}"} if letter else set()
                documented[command] |= {f"--{name}"} if name else set()
    hold_to_help(documented)


@pytest.mark.parametrize("shell, path", [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_syntax(shell, path):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    done = run(shell, "-n", path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def folder(mount, tmp_path):
    """One with a model whose tensors are fc.bias and fc.weight, the first of them edited; and what a shell needs."""
    write_model(tmp_path / "my m.onnx", graph([tensor(name, FLOAT, [1], raw=b"1234") for name in ("fc.bias", "fc.weight")]))
    with mount(tmp_path / "my m.onnx") as mnt:
        mnt.file("fc.bias").write_bytes(b"5678")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "onnxfs").symlink_to(BINARY)
    return tmp_path, {"HOME": str(tmp_path), "PATH": f"{tmp_path}/bin:/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8"}


BOTH, EDITED = {"initializers/fc.bias", "initializers/fc.weight"}, {"initializers/fc.bias.bin"}


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
@pytest.mark.parametrize("line, offered", [
    ("onnxfs umount --", {option for option in options("umount") if option.startswith("--")}),
    (r"onnxfs stats my\\ m.onnx initializers/", BOTH),
    (r"onnxfs stats ~/my\\ m.onnx fc", BOTH),
    (r"onnxfs stats --bins 3 --json my\\ m.onnx weight", {"initializers/fc.weight"}),
    (r"onnxfs ls --sort size my\\ m.onnx fc", BOTH),
    (r"onnxfs diff my\\ m.onnx my\\ m.onnx fc", BOTH),
    (r"onnxfs discard my\\ m.onnx fc", EDITED)])
def test_fish(folder, line, offered):
    assert fish_offers(folder, line) == offered


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
def test_fish_commands_and_models(folder):
    assert {*commands(), "my m.onnx"} <= fish_offers(folder, "onnxfs ")
    assert {"my m.onnx"} <= fish_offers(folder, "onnxfs check ")


def fish_offers(folder, line):
    done = subprocess.run(["fish", "--no-config", "-c", f'source {FISH}; complete -C "{line}"'], cwd=folder[0], env=folder[1],
                          capture_output=True, text=True, timeout=20)
    assert done.stderr == ""
    return {found.split("\t")[0] for found in done.stdout.splitlines()}


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh")
@pytest.mark.parametrize("typed, completed", [
    ("onnxfs umou", "onnxfs umount "),
    ("onnxfs check my", r"onnxfs check my\ m.onnx"),
    (r"onnxfs ls my\ m.onnx initializers/fc.b", "initializers/fc.bias "),
    (r"onnxfs stats ~/my\ m.onnx fc.w", " fc.weight "),
    (r"onnxfs stats --bins 3 my\ m.onnx initializers/fc.w", "initializers/fc.weight "),
    (r"onnxfs discard my\ m.onnx init", "initializers/fc.bias.bin ")])
def test_zsh(folder, typed, completed):
    """On a terminal, where a completion that is the only one is put into the line."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder[0])
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**folder[1], "COLUMNS": "200"})
    try:
        os.write(terminal, f"fpath=({FOLDER} $fpath); autoload -Uz compinit; compinit -u -D; PS1=ready\n".encode())
        shown = read_until(terminal, "\nready", "\rready")
        os.write(terminal, f"{typed}\t".encode())
        shown = read_until(terminal, completed)
        assert completed in shown
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def read_until(terminal, *texts):
    """What is shown until one of them is, for twenty seconds at most."""
    shown = b""
    end = time.monotonic() + 20
    while time.monotonic() < end and not any(text.encode() in shown for text in texts):
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536)
    return shown.decode(errors="replace")
