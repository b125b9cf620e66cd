"""README's commands, run as they stand there, in a folder with the sample model."""

import re

from mounting import REPOSITORY


def blocks(language):
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_recipes(workplace):
    recipes = blocks("sh")
    assert len(recipes) >= 5
    done = workplace("\n".join(recipes))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same weights" in done.stdout
    assert "user.onnx.xxh128" in done.stdout


def test_first_screen(workplace):
    """The session at the top prints what README says that it prints."""
    session = blocks("")[0]
    commands = re.findall(r"^\$ (.*)$", session, re.MULTILINE)
    printed = re.sub(r"^\$ .*\n", "", session, flags=re.MULTILINE)
    done = workplace("\n".join([*commands, "onnxfs umount mnt"]))
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed


PROMISED = re.compile(r"`(?:(\w+\.py)|([A-Z]\w+)\.([A-Z]\w+))`")


def test_promises_name_tests_that_are_there():
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    section = text.partition("## What it promises and how that is tested\n")[2].partition("\n## ")[0]
    promises = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(promises) > 20
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "tests").glob("*/*_test.cc"))
    for promise in promises:
        named = PROMISED.findall(promise)
        assert named, promise
        for file, suite, test in named:
            if file:
                assert (REPOSITORY / "tests" / "mount" / file).is_file(), file
            else:
                assert re.search(rf"^TEST(_F|_P)?\({suite}, {test}\)", sources, re.MULTILINE), f"{suite}.{test}"
