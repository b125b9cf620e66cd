"""All views of a mount, for the tests that hold every one of them to the same rules."""

import errno

FOLDERS = {"npy": ".npy", "text": ".txt", "pb": ".pb"}


def view(mnt, folder, path):
    """The file in which a view shows the tensor of a path without a suffix."""
    return mnt.path / folder / (path + FOLDERS[folder])


def view_files(root):
    """All files of the views of a mount, live/ among them."""
    folders = [root / name for name in (*FOLDERS, "live")]
    files = [root / "model.safetensors", root / "XXH128SUMS"]
    return files + sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


def contents_of_views(root):
    """{path: bytes, None of one that gives EIO}. Each has the size that it is said to have, before and after."""
    found = {}
    for path in view_files(root):
        size = path.stat().st_size
        try:
            content = path.read_bytes()
        except OSError as error:
            assert error.errno == errno.EIO, path
            content = None
        else:
            assert len(content) == size, path
        assert path.stat().st_size == size, path
        found[str(path.relative_to(root))] = content
    return found


def sizes_of_views(root):
    return {str(path.relative_to(root)): path.stat().st_size for path in view_files(root)}
