"""What every command says of its arguments: a help of one screen, one clear line for a wrong word, and exit status 2."""

import re
import subprocess

import pytest
from editable import overwrite, write_editable
from mounting import BINARY, one_line, onnxfs
from onnx_wire import FLOAT, graph, tensor, write_model
from offered import commands

NOISE = re.compile(r"REQUIRED|TEXT|UINT|INT|FLOAT|Excludes|Needs|FAILED|->|\{|\bEnv\b")


@pytest.mark.parametrize("command", [[command] for command in commands()] + [[]], ids=" ".join)
def test_help_is_a_screen(command):
    """Of 24 lines, of which the shell's prompt needs one, and 80 columns; without words of the library that parses."""
    done = onnxfs(*command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 23 and max(map(len, lines)) <= 80
    assert not NOISE.search(done.stdout), done.stdout
    assert re.search(r"^Examples?:\n  onnxfs .+", done.stdout, re.MULTILINE)
    assert onnxfs("help", *command).stdout == onnxfs(*command, "-h").stdout == done.stdout


WRONG = [
    ("ls m --sort name", "--sort", '"name"', "path", "size"),
    ("ls m --sort 1", '"1"', "path, size"),
    ("ls m --sort", "--sort needs a value", "path|size"),
    ("ls m --sort path --sort size", "--sort is given more than once"),
    ("ls m --jsn", "no option --jsn", "did you mean --json? See onnxfs ls --help"),
    ("ls m -x", "no option -x"),
    ("ls m --json=3", "--json takes no value"),
    ("ls m --paths --json", "--json and --paths cannot go together"),
    ("ls", "MODEL|MNT is required"),
    ("stats m --bins", "--bins needs a value", "1..1024"),
    ("stats m --bins -3", '"-3"', "from 1 to 1024"),
    ("stats m --bins 0", '"0"', "from 1 to 1024"),
    ("stats m --bins 1025", "from 1 to 1024"),
    ("stats m --bins 18446744073709551617", "from 1 to 1024"),
    ("stats m --bins 5x", '"5x"', "from 1 to 1024"),
    ("diff a", "B is required"),
    ("diff a b --rtol x", "--rtol", '"x" is no number of 0 or more'),
    ("diff a b --rtol -1", "no number of 0 or more"),
    ("diff a b --atol nan", "no number of 0 or more"),
    ("diff a b --atol inf", "no number of 0 or more"),
    ("diff a b --map x", "--map x", "OLD=NEW"),
    ("export m o --external --align -1", "--align", '"-1"', "4096, 65536"),
    ("export m o --external --align 512", "4096, 65536"),
    ("export m o --external --size-threshold -1", "--size-threshold", '"-1"', "0 or more"),
    ("export m o --external --size-threshold 1k", '"1k"', "0 or more"),
    ("export m o --external /abs/path", "/abs/path", "absolute"),
    ("export m o --per-tensor --external ../x", "--external", "--per-tensor"),
    ("export m o", "--external, --per-tensor, --inline and --safetensors"),
    ("export m", "OUT is required"),
    ("check", "MODEL|FOLDER|MNT is required"),
    ("check --jsom m", "did you mean --json?"),
    ("status", "MODEL|MNT is required"),
    ("status m more", '"more" is one argument too many'),
    ("commit m -o", "--output needs a value: OUT"),
    ("commit m -o x --in-place", "--in-place", "--output", "cannot go together"),
    ("discard", "MODEL is required"),
    ("discard m --sidecar", "--sidecar needs a value: DIR"),
    ("umount", "MNT is required"),
    ("umount a b", '"b" is one argument too many'),
    ("mount m", "MNT is required"),
    ("m.onnx mnt -o foo", "-o foo", "no such option"),
    ("mount m.onnx mnt -o uid=-1", "-o uid=-1", "no number"),
    ("m.onnx mnt --foo", "no option --foo"),
    ("lst m.onnx", "lst is neither a command nor a file; did you mean ls?"),
    ("stat", "did you mean stats?"),
    ("help lst", "lst is no command; did you mean ls?"),
    ("help ls stats", "one command"),
]


@pytest.mark.parametrize("words, told", [(words, told) for words, *told in WRONG], ids=[words for words, *_ in WRONG])
def test_wrong_words(tmp_path, words, told):
    done = onnxfs(*words.split(), cwd=tmp_path)
    line = one_line(done)
    assert done.returncode == 2, line
    assert not NOISE.search(line), line
    for part in told:
        assert part in line, line
    assert line.endswith("--help") and not list(tmp_path.iterdir())


@pytest.fixture
def here(mount, tmp_path):
    """M: a model with an edit; B: one with a problem."""
    model, _ = write_editable(tmp_path)
    with mount(model) as mnt:
        overwrite(mnt.file("raw"), 0, b"edit")
    broken = tmp_path / "broken.onnx"
    write_model(broken, graph([tensor("w", FLOAT, [2], raw=b"123")]))
    return {"M": model, "B": broken}


PRINTING = ["--help", "-h", "--version", "help", "help ls", *(f"{command} --help" for command in commands()),
            "status M", "status --json M", "ls M", "ls --json M", "ls --paths M", "ls --totals M", "stats M",
            "stats --json M", "diff M M", "diff M M --json", "check B", "check --json M", "check .",
            "export M out.onnx --inline", "commit M -o copy.onnx", "commit M", "discard M", "discard M raw"]


@pytest.mark.parametrize("words", PRINTING)
def test_output_that_cannot_be_written(here, tmp_path, words):
    """No answer must pass for a short one."""
    argv = [here.get(word, word) for word in words.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, *argv], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20, cwd=tmp_path)
    assert done.returncode in (1, 2), done
    assert done.stderr.splitlines()[-1] == "onnxfs: cannot write to standard output: No space left on device"
