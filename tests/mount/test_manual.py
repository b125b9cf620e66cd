"""The man page: its commands run, and it has the commands and options that the program has, and no others."""

import inspect
import json
import re
import shutil

import pytest
import test_posix
from mounting import REPOSITORY, onnxfs, run
from offered import HELP, commands, hold_to_help
from onnx_wire import FLOAT, INT64, STRING, Message, graph, node, tensor, write_model

PAGE = REPOSITORY / "share" / "onnxfs.1"


def section(name):
    text = PAGE.read_text(encoding="utf-8")
    return re.search(rf"^\.Sh {name}\n(.*?)(?=^\.Sh )", text, re.MULTILINE | re.DOTALL)[1]


def flags(text):
    """Those in mdoc's macro Fl, which writes one dash itself."""
    return {"-" + name for name in re.findall(r"\bFl (-?[A-Za-z][\w-]*)", text)}


def parts_of_commands():
    """The text on each command."""
    _, *parts = re.split(r"^\.Ss ", section("COMMANDS"), flags=re.MULTILINE)
    return {part.split("\n")[0]: part for part in parts}


def listed_flags(part):
    return flags("\n".join(line for line in part.splitlines() if line.startswith(".It ")))


def test_commands_and_options():
    hold_to_help({command: listed_flags(part) | HELP for command, part in parts_of_commands().items()})


def test_synopsis():
    """It has every command, and only options that the command's own part has."""
    parts = parts_of_commands()
    lines = {}
    for form in re.split(r"^\.Nm$", section("SYNOPSIS"), flags=re.MULTILINE):
        command = re.search(r"\bCm (\w+)", form)
        if command:
            lines[command[1]] = form
    assert list(lines) == list(parts)
    for command, form in lines.items():
        assert flags(form) - listed_flags(parts[command]) == set(), command


def keys_in(answer):
    """All member names, but for those under by_…, which are names from the model."""
    if isinstance(answer, list):
        return set().union(*map(keys_in, answer))
    if not isinstance(answer, dict):
        return set()
    return set(answer).union(*(keys_in(value) for key, value in answer.items() if not key.startswith("by_")))


def test_what_it_says_of_json(tmp_path):
    """It names each key that a command prints; the models have what makes them print most of them."""
    def model_of(name, values, text, dims, operator):
        indices = tensor("i", INT64, [1], raw=bytes(8))
        sparse = Message().message(1, tensor("sparse", FLOAT, [1], raw=values[:4])).message(2, indices).packed_varints(3, dims)
        body = graph([tensor("w", FLOAT, [2], raw=values), tensor(text, STRING, [1]).bytes(6, text.encode()),
                      tensor("broken", FLOAT, [2], raw=b"abc")], [node(operator, ["x"], ["y"], "n")])
        write_model(tmp_path / name, body.message(15, sparse))
        return tmp_path / name

    a = model_of("a.onnx", b"12345678", "\x01", [2], "Abs")
    b = model_of("b.onnx", b"1234567x", "%01", [3], "Neg")
    said = set(re.findall(r"[a-z_0-9]+", " ".join(re.findall(r"Ql (.*)", section("JSON")))))
    for words in (["ls", a, "--long"], ["stats", a], ["diff", a, b], ["check", a], ["status", a]):
        done = onnxfs(*words, "--json")
        keys = keys_in([json.loads(line) for line in done.stdout.splitlines()] if words[0] == "check"
                       else json.loads(done.stdout))
        assert keys and keys <= said, (words, keys - said, done.stderr)


def test_what_it_says_of_posix():
    """A sentence a test, in their order: that test's own."""
    told = re.search(r"^\.Ss POSIX\n(.*)", section("THE MOUNT"), re.MULTILINE | re.DOTALL)[1]
    sentences = [" ".join(item.split()) for item in re.findall(r"^\.It\n((?:[^.].*\n)+)", told, re.MULTILINE)]
    tests = [function for name, function in vars(test_posix).items() if name.startswith("test_")]
    assert len(tests) >= 30
    assert [sentence.replace(r"\(dq", '"') for sentence in sentences] == [inspect.getdoc(test) for test in tests]


def examples():
    blocks = re.findall(r"^\.Bd .*?\n(.*?)^\.Ed$", section("EXAMPLES"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    return [block.replace(r"\e", "\\") for block in blocks]


def words_of(block):
    return set(re.findall(r"\bonnxfs ([a-z]+) ", block))


def test_examples(workplace):
    """Those of commands that the program has; a block stands for itself."""
    missing = set(parts_of_commands()) - set(commands())
    runnable = [block for block in examples() if not words_of(block) & missing]
    assert len(runnable) >= 5
    done = workplace("\n".join(runnable))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bn1.weight.bin" in done.stdout and "edited tensor" in done.stdout
    assert done.stderr.count("\n") <= 6, done.stderr  # of dd, and remarks


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff")
def test_groff_finds_nothing():
    done = run("groff", "-mandoc", "-Tutf8", "-ww", "-z", PAGE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("mandoc"), reason="no mandoc")
def test_mandoc_finds_nothing():
    """Beside pages of others, which a system may lack."""
    done = run("mandoc", "-Tlint", "-Wall", PAGE)
    found = [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
    assert found == []
