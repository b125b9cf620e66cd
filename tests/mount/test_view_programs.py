"""Programs that people use on files, on the views: the list in README, under "Programs", is of what is run here."""

import os
import shutil
import tarfile

import numpy
import pytest
from datatypes import TABLE
from editable import overwrite, write_editable
from mounting import run
from viewed import array_of_payload
from views import FOLDERS, view

ROWS = {row.name: row for row in TABLE}


@pytest.fixture(scope="module")
def pair(mount, tmp_path_factory):
    """Two mounts of one model, in the second of which a few elements of one tensor are others."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "other").mkdir()
    model, tensors = write_editable(folder)
    other, _ = write_editable(folder / "other")
    with mount(model) as one, mount(other) as two:
        overwrite(two.file("float/packed"), 4 * 700, numpy.array([1.5, -2.5], "<f4").tobytes())
        yield one, two, tensors


def succeeds(*argv, **how):
    done = run(*argv, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def same_tree(one, two):
    """No difference, as told by reading both, and as many files."""
    files = {path.relative_to(one) for path in one.rglob("*")}
    assert files == {path.relative_to(two) for path in two.rglob("*")}
    for name in files:
        if (one / name).is_file():
            assert (one / name).read_bytes() == (two / name).read_bytes(), name


@pytest.mark.parametrize("folder", [*FOLDERS, "live"])
def test_cp(pair, tmp_path, folder):
    one, _, _ = pair
    succeeds("cp", "-r", one.path / folder, tmp_path / "out")
    same_tree(one.path / folder, tmp_path / "out")
    assert all(numpy.load(path).dtype for path in (tmp_path / "out").rglob("*.npy"))


def test_rsync(pair, tmp_path):
    one, _, _ = pair
    for _ in range(2):
        succeeds("rsync", "-a", f"{one.path}/npy", f"{one.path}/text", f"{one.path}/model.safetensors", tmp_path)
        same_tree(one.path / "text", tmp_path / "text")
        same_tree(one.path / "npy", tmp_path / "npy")
    assert succeeds("rsync", "-ain", f"{one.path}/npy", f"{one.path}/text", tmp_path) == ""


def test_tar(pair, tmp_path):
    one, _, _ = pair
    succeeds("tar", "-C", one.path, "-cf", tmp_path / "views.tar", "npy", "text", "pb", "live", "model.safetensors")
    (tmp_path / "out").mkdir()
    succeeds("tar", "-C", tmp_path / "out", "-xf", tmp_path / "views.tar")
    for folder in (*FOLDERS, "live"):
        same_tree(one.path / folder, tmp_path / "out" / folder)
    with tarfile.open(tmp_path / "views.tar") as archive:
        assert archive.getmember("model.safetensors").size == (one.path / "model.safetensors").stat().st_size


def test_diff(pair):
    """It finds the edited tensor, and in it the elements."""
    one, two, _ = pair
    done = run("diff", "-r", one.path / "text", two.path / "text")
    assert done.returncode == 1
    assert [line.split("/")[-1] for line in done.stdout.splitlines() if line.startswith("diff ")] == ["packed.txt"]
    assert [line.split() for line in done.stdout.splitlines() if line.startswith(">")] == [[">", "1.5"], [">", "-2.5"]]
    assert "701,702c701,702" in done.stdout
    done = run("diff", "-rq", one.path / "npy", two.path / "npy")
    assert done.stdout.count("differ") == 1 and "float/packed.npy" in done.stdout


def test_git_diff(pair):
    one, two, _ = pair
    if not shutil.which("git"):
        pytest.skip("no git")
    done = run("git", "diff", "--no-index", "--stat", one.path / "text", two.path / "text")
    assert done.returncode == 1 and "packed.txt" in done.stdout and "1 file changed" in done.stdout, done.stdout
    done = run("git", "diff", "--no-index", "-U0", one.path / "text", two.path / "text")
    assert [line[1:].strip() for line in done.stdout.splitlines() if line[:1] == "+" and line[:2] != "++"] == [
        "1.5", "-2.5"]


def test_cmp(pair):
    one, two, _ = pair
    paths = [view(mnt, "npy", "initializers/float/packed") for mnt in (one, two)]
    done = run("cmp", *paths)
    assert done.returncode == 1 and "line" in done.stdout
    first = int(run("cmp", "-l", *paths).stdout.split()[0])
    assert 128 + 4 * 700 < first <= 128 + 4 * 701
    for folder in FOLDERS:
        succeeds("cmp", *(view(mnt, folder, "initializers/external/a") for mnt in (one, two)))


def text_lines(mnt, path):
    return view(mnt, "text", path).read_text().splitlines()


def test_sed_and_head(pair):
    """Line n is element n - 1."""
    one, _, _ = pair
    path = view(one, "text", "initializers/large")
    lines = text_lines(one, "initializers/large")
    assert succeeds("sed", "-n", "40001p", path) == lines[40_000] + "\n"
    assert succeeds("head", "-n", "3", path).splitlines() == lines[:3]
    assert succeeds("tail", "-n", "3", path).splitlines() == lines[-3:]
    width = len(lines[0]) + 1
    assert succeeds("dd", f"if={path}", f"bs={width}", "skip=40000", "count=1", "status=none") == lines[40_000] + "\n"


def test_wc(pair):
    """As many lines as elements."""
    one, _, tensors = pair
    for path, it in tensors.items():
        assert int(succeeds("wc", "-l", view(one, "text", path)).split()[0]) == numpy.prod(it.shape, dtype=int), path


def test_paste_and_cut(pair):
    one, two, _ = pair
    texts = [view(mnt, "text", "initializers/float/packed") for mnt in (one, two)]
    pasted = succeeds("paste", *texts).splitlines()
    assert pasted == ["\t".join(pair) for pair in zip(*(path.read_text().splitlines() for path in texts))]
    rows = succeeds("bash", "-c", 'paste "$1" "$2" | awk \'$1 != $2 { print NR - 1 }\'', "bash", *texts).split()
    assert rows == ["700", "701"]
    lines = texts[0].read_text().splitlines()
    assert succeeds("cut", "-c", "1-4", texts[0]).splitlines() == [line[:4] for line in lines]


def test_sort_and_awk(pair):
    one, _, tensors = pair
    path = view(one, "text", "initializers/int64/packed")
    it = tensors["initializers/int64/packed"]
    values = numpy.frombuffer(it.payload, "<i8")
    assert succeeds("sort", "-n", path).split() == [str(value) for value in sorted(values)]
    path = view(one, "text", "attributes/trees/ids")
    values = numpy.frombuffer(tensors["attributes/trees/ids"].payload, "<i8")
    assert succeeds("awk", "{ n += $1 } END { print n }", path).strip() == str(values.sum())


def has_numbers_that_are_none(it):
    row = ROWS[it.dtype]
    return row.numpy[1] in "fc" and not numpy.isfinite(array_of_payload(row, it.payload, it.shape)).all()


def test_grep(pair):
    """It finds strings, and the tensors with a NaN or an infinity in them."""
    one, _, tensors = pair
    found = succeeds("grep", "-rlF", '"zw\u00f6lf"', one.path / "text").split()
    assert [os.path.basename(path) for path in found] == ["strings.txt"]
    found = succeeds("grep", "-rlwE", "nan|inf|nanj|infj", one.path / "text").split()
    found = {os.path.relpath(path, one.path / "text").removesuffix(".txt") for path in found}
    known = {path for path, it in tensors.items() if not it.is_strings and ROWS[it.dtype].numpy[1] in "fc"}
    assert found & known == {path for path in known if has_numbers_that_are_none(tensors[path])}
    assert not any("INT" in path for path in found)


def test_find_and_du(pair):
    one, _, tensors = pair
    for folder, suffix in FOLDERS.items():
        found = set(succeeds("find", one.path / folder, "-type", "f", "-size", "+99k").split())
        assert found == {str(path) for path in (one.path / folder).rglob("*" + suffix)
                         if -(-path.stat().st_size // 1024) > 99}
    ranked = [line.split("\t")[1] for line in
              sorted(succeeds("du", "-a", "--apparent-size", "-B1", one.path / "npy").splitlines(),
                     key=lambda line: -int(line.split("\t")[0])) if line.endswith(".npy")]
    assert ranked[0].endswith("initializers/large.npy")


def test_file_and_xxd(pair):
    one, _, _ = pair
    path = view(one, "npy", "initializers/large")
    if shutil.which("file"):
        assert "NumPy" in succeeds("file", path)
    if shutil.which("xxd"):
        assert succeeds("xxd", "-l", "6", "-p", path).strip() == b"\x93NUMPY".hex()


def test_zip_as_npz(pair, tmp_path):
    """Python's zipfile on npy/ makes what numpy calls .npz."""
    one, _, tensors = pair
    succeeds("python3", "-m", "zipfile", "-c", tmp_path / "all.npz", *(one.path / "npy").iterdir())
    archive = numpy.load(tmp_path / "all.npz")
    assert archive["initializers/raw"].tobytes() == tensors["initializers/raw"].payload
    it = tensors["initializers/typed/INT4"]
    assert numpy.array_equal(archive["initializers/typed/INT4"], array_of_payload(ROWS["int4"], it.payload, it.shape))
