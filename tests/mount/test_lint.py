"""scripts/lint, and that clang++ takes the marks of core/bytes/mutex.h for what they say."""

import shutil

import pytest
from mounting import REPOSITORY, run

COUNTER = """#include "core/bytes/mutex.h"
using namespace onnxfs;
struct Counter {
  Mutex mutex;
  Condition changed;
  int count ONNXFS_GUARDED_BY(mutex) = 0;
};
"""

ACCEPTED = [
    "const MutexLock lock(c.mutex); ++c.count;",
    "const MutexLock lock(c.mutex); while (c.count == 0) c.changed.wait(c.mutex);",
    "if (!c.mutex.try_lock()) return; const MutexLock lock(c.mutex, std::adopt_lock); ++c.count;",
    "MutexLock lock(c.mutex); lock.unlock(); lock.lock(); ++c.count;",
]
REFUSED = {
    "++c.count;": "writing variable 'count' requires holding mutex 'c.mutex' exclusively",
    "int seen = c.count; (void)seen;": "reading variable 'count' requires holding mutex 'c.mutex'",
    "const MutexLock lock(c.mutex); c.mutex.lock();": "acquiring mutex 'c.mutex' that is already held",
    "c.mutex.lock();": "mutex 'c.mutex' is still held at the end of function",
    "c.changed.wait(c.mutex);": "calling function 'wait' requires holding mutex 'c.mutex' exclusively",
    "MutexLock lock(c.mutex); lock.unlock(); ++c.count;":
        "writing variable 'count' requires holding mutex 'c.mutex' exclusively",
}


def check(folder, bodies):
    path = folder / "counter.cc"
    path.write_text(COUNTER + "".join(f"void f{at}(Counter& c) {{ {body} }}\n" for at, body in enumerate(bodies)))
    return run("clang++", "-std=c++20", "-fsyntax-only", "-I", REPOSITORY, "-Werror=thread-safety", path, timeout=100)


@pytest.mark.limit(200)
@pytest.mark.skipif(not shutil.which("clang++"), reason="no clang++ (apt install clang)")
def test_clang_holds_code_to_its_marks(tmp_path):
    accepted = check(tmp_path, ACCEPTED)
    assert (accepted.returncode, accepted.stderr) == (0, "")
    refused = check(tmp_path, REFUSED)
    assert refused.returncode != 0
    first = COUNTER.count("\n") + 1
    for line, text in enumerate(REFUSED.values(), first):
        errors = [each for each in refused.stderr.splitlines() if f"counter.cc:{line}:" in each and " error: " in each]
        assert any(text in error for error in errors), (line, refused.stderr)


def test_unknown_option_gets_the_usage():
    done = run(REPOSITORY / "scripts" / "lint", "--fix")
    assert done.returncode == 2
    assert "scripts/lint [--only-locks | --only-tidy]" in done.stderr


def test_says_what_is_missing(tmp_path):
    """With a PATH that has what the script runs before it looks for clang++."""
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name))
    done = run(REPOSITORY / "scripts" / "lint", env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (1, "lint: there is no clang++; apt install clang\n")
