"""What of POSIX holds of the files of a mount that can be written, and what does not: a behaviour a test.

The first line of each test's documentation is the sentence about it in the manual.
"""

import errno
import fcntl
import mmap
import os
import stat
import threading

import pytest
from editing import opened
from mounting import error_of, run
from onnx_wire import FLOAT, graph, tensor, write_model

OLD = bytes(range(250)) * 40
SIZE = len(OLD)


@pytest.fixture
def mnt(mount, tmp_path):
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [SIZE // 4], raw=OLD),
                                            tensor("v", FLOAT, [1], raw=b"abcd"),
                                            tensor("deep/er/x", FLOAT, [0], raw=b"")]))
    with mount(tmp_path / "m.onnx") as mounted:
        yield mounted


def scratch(mnt, name="scratch", content=b"", flags=os.O_RDWR):
    path = mnt.path / "initializers" / name
    path.write_bytes(content)
    return path, os.open(path, flags)


# What holds

def test_reads_end_at_the_end(mnt):
    """A read across the end is short, one past it gives nothing."""
    with opened(mnt.file("w"), os.O_RDONLY) as fd:
        assert os.pread(fd, 100, SIZE - 10) == OLD[-10:]
        assert os.pread(fd, 100, SIZE) == os.pread(fd, 100, SIZE + 10**12) == b""
        assert os.lseek(fd, 0, os.SEEK_END) == SIZE
        assert error_of(os.lseek, fd, -1, os.SEEK_SET) == errno.EINVAL


def test_a_write_is_seen_at_once(mnt):
    """A write is seen at once by whoever reads the same file, before it is closed."""
    with opened(mnt.file("w"), os.O_RDWR) as writer, opened(mnt.file("w"), os.O_RDONLY) as reader:
        for turn in range(20):
            os.pwrite(writer, bytes([turn]) * 100, 4090)
            assert os.pread(reader, 100, 4090) == bytes([turn]) * 100


def test_maps_and_reads_agree(mnt):
    """Stores into a shared map are seen by reads, and writes by maps."""
    with opened(mnt.file("w"), os.O_RDWR) as fd, mmap.mmap(fd, SIZE) as area:
        area[5000:5004] = b"map!"
        assert os.pread(fd, 4, 5000) == b"map!"
        os.pwrite(fd, b"text", 9000)
        assert area[9000:9004] == b"text"


def test_private_maps_stay_private(mnt):
    """A private map of a tensor can be written, and changes nothing."""
    with opened(mnt.file("w"), os.O_RDONLY) as fd, mmap.mmap(fd, SIZE, flags=mmap.MAP_PRIVATE,
                                                             prot=mmap.PROT_READ | mmap.PROT_WRITE) as area:
        area[0:4] = b"mine"
        assert os.pread(fd, 4, 0) == OLD[:4]


def test_descriptors_share_or_have_an_offset(mnt):
    """Copies of a descriptor share an offset, descriptors of their own do not."""
    with opened(mnt.file("w"), os.O_RDONLY) as one, opened(mnt.file("w"), os.O_RDONLY) as other:
        copy = os.dup(one)
        assert os.read(one, 10) + os.read(copy, 10) == OLD[:20]
        assert os.read(other, 10) == OLD[:10]
        os.close(copy)


def test_vectored_calls(mnt):
    """readv, writev, preadv and pwritev move the bytes of all their buffers."""
    with opened(mnt.file("w"), os.O_RDWR) as fd:
        assert os.writev(fd, [b"one", b"", b"two"]) == 6
        assert os.pwritev(fd, [b"three", b"four"], 6) == 9
        buffers = [bytearray(4), bytearray(11)]
        assert os.preadv(fd, buffers, 0) == 15
        assert b"".join(buffers) == b"onetwothreefour"


def test_copies_inside_the_kernel(mnt, tmp_path):
    """sendfile and splice read from tensors; copy_file_range to another file system says so (EXDEV), and programs copy."""
    with opened(mnt.file("w"), os.O_RDONLY) as source:
        with opened(tmp_path / "copy", os.O_RDWR | os.O_CREAT) as out:
            assert error_of(os.copy_file_range, source, out, SIZE, 0, 0) in (errno.EXDEV, None)
            os.ftruncate(out, 0)
            assert os.sendfile(out, source, 0, SIZE) == SIZE
            assert os.pread(out, SIZE + 1, 0) == OLD
        reading, writing = os.pipe()
        assert os.splice(source, writing, 100, offset_src=50) == 100
        assert os.read(reading, 100) == OLD[50:150]
        os.close(reading)
        os.close(writing)


def test_holes_are_not_reported(mnt):
    """A tensor is all data: SEEK_DATA finds it anywhere, SEEK_HOLE its end, and neither anything past it."""
    with opened(mnt.file("w"), os.O_RDONLY) as fd:
        assert os.lseek(fd, 77, os.SEEK_DATA) == 77
        assert os.lseek(fd, 77, os.SEEK_HOLE) == SIZE
        assert error_of(os.lseek, fd, SIZE, os.SEEK_DATA) == errno.ENXIO


def test_times_of_an_edit(mnt):
    """An edit sets the modification time; reading sets none."""
    before = mnt.file("w").stat()
    mnt.bytes("w")
    assert mnt.file("w").stat().st_mtime_ns == before.st_mtime_ns
    with opened(mnt.file("w"), os.O_RDWR) as fd:
        os.write(fd, b"x")
    assert mnt.file("w").stat().st_mtime_ns > before.st_mtime_ns
    assert mnt.file("v").stat().st_mtime_ns == before.st_mtime_ns


def test_fsync(mnt):
    """fsync, fdatasync, sync_file_range by msync, and syncfs make edits durable, and fsync of a folder too."""
    with opened(mnt.file("w"), os.O_RDWR) as fd:
        os.write(fd, b"new")
        os.fsync(fd)
        os.fdatasync(fd)
        with mmap.mmap(fd, SIZE) as area:
            area[0:3] = b"map"
            area.flush()
    with opened(mnt.path / "initializers", os.O_RDONLY | os.O_DIRECTORY) as folder:
        os.fsync(folder)
    assert run("sync", "-f", mnt.file("w")).returncode == 0


def test_locks(mnt):
    """flock, and record locks of fcntl, work among the processes of one machine."""
    with opened(mnt.file("w"), os.O_RDWR) as one, opened(mnt.file("w"), os.O_RDWR) as other:
        fcntl.flock(one, fcntl.LOCK_EX)
        assert error_of(fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB) == errno.EWOULDBLOCK
        fcntl.flock(one, fcntl.LOCK_UN)
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.lockf(one, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
        child = os.fork()
        if child == 0:
            with opened(mnt.file("w"), os.O_RDWR) as fd:
                os._exit(error_of(fcntl.lockf, fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 5) or 0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (errno.EAGAIN, errno.EACCES)


def test_o_excl_and_o_creat(mnt):
    """O_CREAT opens a tensor that is there, and with O_EXCL refuses it (EEXIST)."""
    with opened(mnt.file("w"), os.O_RDWR | os.O_CREAT) as fd:
        assert os.read(fd, 4) == OLD[:4]
    assert error_of(os.open, mnt.file("w"), os.O_RDWR | os.O_CREAT | os.O_EXCL) == errno.EEXIST


def test_errors_of_paths(mnt):
    """Wrong paths give ENOENT, ENOTDIR, EISDIR and ENAMETOOLONG as anywhere."""
    folder = mnt.path / "initializers"
    assert error_of(os.stat, folder / "none") == errno.ENOENT
    assert error_of(os.stat, mnt.file("w") / "below") == errno.ENOTDIR
    assert error_of(os.listdir, mnt.file("w")) == errno.ENOTDIR
    assert error_of(os.open, folder, os.O_WRONLY) == errno.EISDIR
    assert error_of(os.open, folder / ("x" * 256), os.O_WRONLY | os.O_CREAT) == errno.ENAMETOOLONG
    assert error_of(os.readlink, mnt.file("w")) == errno.EINVAL


def test_descriptors_know_how_they_were_opened(mnt):
    """A descriptor that was opened to read does not write, nor the other way round (EBADF)."""
    with opened(mnt.file("w"), os.O_RDONLY) as fd:
        assert error_of(os.write, fd, b"x") == errno.EBADF
        assert error_of(os.ftruncate, fd, SIZE) == errno.EINVAL
    with opened(mnt.file("w"), os.O_WRONLY) as fd:
        assert error_of(os.read, fd, 1) == errno.EBADF


def test_folders_are_listed_whole(mnt):
    """Each entry of a folder is listed once, "." and ".." among them, with its inode and type; so again after rewinding."""
    listed = {entry.name: entry for entry in os.scandir(mnt.path / "initializers")}
    assert sorted(listed) == ["deep", "v.bin", "v.json", "w.bin", "w.json"]
    for name, entry in listed.items():
        status = (mnt.path / "initializers" / name).lstat()
        assert entry.inode() == status.st_ino
        assert entry.is_dir(follow_symlinks=False) == stat.S_ISDIR(status.st_mode)
    fd = os.open(mnt.path / "initializers", os.O_RDONLY | os.O_DIRECTORY)
    assert sorted(os.listdir(fd)) == sorted(os.listdir(fd)) == sorted(listed)
    os.close(fd)
    assert run("ls", "-a", mnt.path / "initializers").stdout.split()[:2] == [".", ".."]


def test_links_of_folders_count_subfolders(mnt):
    """A folder has two links and one for each folder in it; a file has one."""
    assert (mnt.path / "initializers").stat().st_nlink == 3
    assert (mnt.path / "initializers" / "deep" / "er").stat().st_nlink == 2
    assert mnt.file("w").stat().st_nlink == 1


def test_inodes_stay(mnt, mount, tmp_path):
    """Inode numbers are unique in a mount, and the same at each mount of the model."""
    numbers = [path.lstat().st_ino for path in sorted(mnt.path.rglob("*"))]
    assert len(set(numbers)) == len(numbers)
    with mount(mnt.model, "ro") as other:
        assert [path.lstat().st_ino for path in sorted(other.path.rglob("*"))] == numbers


def test_new_files(mnt):
    """New files can be made beside tensors, written at any offset, read, renamed and removed; they end with the mount."""
    path, fd = scratch(mnt)
    os.pwrite(fd, b"end", 5000)
    os.pwrite(fd, b"begin", 0)
    assert os.fstat(fd).st_size == path.stat().st_size == 5003
    assert os.pread(fd, 9999, 0) == b"begin" + bytes(4995) + b"end"
    os.ftruncate(fd, 3)
    os.rename(path, path.with_name("other"))
    assert path.with_name("other").read_bytes() == b"beg"
    os.chmod(path.with_name("other"), 0o600)
    assert stat.S_IMODE(path.with_name("other").stat().st_mode) == 0o600
    os.unlink(path.with_name("other"))
    assert not path.with_name("other").exists()
    os.close(fd)


def test_a_removed_file_lives_while_it_is_open(mnt):
    """A new file that is removed while it is open can be read and written until it is closed."""
    path, fd = scratch(mnt, content=b"before")
    os.unlink(path)
    os.pwrite(fd, b"after!", 0)
    assert os.pread(fd, 100, 0) == b"after!"
    os.close(fd)


def test_appending_to_new_files(mnt):
    """O_APPEND appends to new files, also from two descriptors in turn."""
    path, one = scratch(mnt, flags=os.O_WRONLY | os.O_APPEND)
    with opened(path, os.O_WRONLY | os.O_APPEND) as other:
        for turn in range(10):
            os.write(one if turn % 2 else other, b"%d" % turn)
    os.close(one)
    assert path.read_bytes() == b"0123456789"


def test_rename_is_atomic(mnt):
    """A rename over a tensor replaces it in one step: at each moment there is a file of that name, whole."""
    done, missing = threading.Event(), []

    def look():
        while not done.is_set():
            try:
                if mnt.file("w").stat().st_size != SIZE:
                    missing.append("size")
            except OSError as error:
                missing.append(error)

    looker = threading.Thread(target=look)
    looker.start()
    for turn in range(50):
        path = mnt.file("scratch", "")
        path.write_bytes(bytes([turn]) * SIZE)
        os.rename(path, mnt.file("w"))
    done.set()
    looker.join()
    assert not missing
    assert mnt.bytes("w") == bytes([49]) * SIZE


def test_many_opens_at_once(mnt):
    """A file can be opened many times at once, and the descriptors are given back."""
    for _ in range(3):
        fds = [os.open(mnt.file("w"), os.O_RDONLY) for _ in range(500)]
        assert all(os.pread(fd, 4, 96) == OLD[96:100] for fd in fds)
        for fd in fds:
            os.close(fd)


def test_o_direct_and_o_sync(mnt):
    """O_DIRECT and O_SYNC are taken, at any offset and length."""
    with opened(mnt.file("w"), os.O_RDWR | os.O_DIRECT | os.O_SYNC) as fd:
        assert os.pwrite(fd, b"odd", 4095) == 3
        assert os.pread(fd, 7, 4093) == OLD[4093:4095] + b"odd" + OLD[4098:4100]


def test_access(mnt):
    """access tells what can be written (EROFS) and entered."""
    for path in (mnt.file("w"), mnt.file("w", ".json"), mnt.path / "initializers"):
        assert os.access(path, os.R_OK | os.W_OK)
    assert os.access(mnt.path / "index.tsv", os.R_OK) and not os.access(mnt.path / "index.tsv", os.W_OK)
    assert os.access(mnt.path / "initializers", os.X_OK) and not os.access(mnt.file("w"), os.X_OK)


def test_statvfs(mnt):
    """statvfs gives what the tensors take, the room on the disk that edits go to, and the longest name."""
    status, disk = os.statvfs(mnt.path), os.statvfs(mnt.model.parent)
    assert status.f_namemax == 255
    assert status.f_blocks - status.f_bfree == -(-(SIZE + 4) // status.f_frsize)
    room = disk.f_bavail * disk.f_frsize
    assert 0.5 < status.f_bavail * status.f_frsize / room < 2


# What deliberately does not

def test_a_tensor_keeps_its_size(mnt):
    """A tensor keeps its size: writing past its end, appending, truncating and growing are refused (EFBIG, EINVAL)."""
    path = mnt.file("w")
    with opened(path, os.O_RDWR) as fd:
        assert error_of(os.pwrite, fd, b"x", SIZE) == errno.EFBIG
        for size in (0, SIZE - 1, SIZE + 1):
            assert error_of(os.ftruncate, fd, size) == errno.EINVAL
    with opened(path, os.O_WRONLY | os.O_APPEND) as fd:
        assert error_of(os.write, fd, b"x") == errno.EFBIG
    assert error_of(os.truncate, path, 0) == errno.EINVAL
    assert mnt.bytes("w") == OLD


def test_replacing_takes_effect_at_close(mnt):
    """O_TRUNC leaves the tensor as it is until a close, and fails there unless the size is right: it would lose it else."""
    fd = os.open(mnt.file("w"), os.O_WRONLY | os.O_TRUNC)
    os.write(fd, bytes(100))
    assert mnt.bytes("w") == OLD
    assert error_of(os.close, fd) == errno.EINVAL
    assert mnt.bytes("w") == OLD


def test_tensors_stay(mnt):
    """Tensors and folders are neither removed, renamed nor made (EPERM): a model's structure is not edited."""
    folder = mnt.path / "initializers"
    assert error_of(os.unlink, mnt.file("w")) == errno.EPERM
    assert error_of(os.rename, mnt.file("w"), folder / "z.bin") == errno.EPERM
    assert error_of(os.rmdir, folder / "deep") in (errno.EPERM, errno.ENOSYS)
    assert error_of(os.mkdir, folder / "new") in (errno.EPERM, errno.ENOSYS)


def test_no_links_and_nodes(mnt):
    """There are no links, devices, FIFOs and sockets: nothing of them could be committed."""
    folder = mnt.path / "initializers"
    refused = (errno.EPERM, errno.ENOSYS)
    assert error_of(os.link, mnt.file("w"), folder / "link") in refused
    assert error_of(os.symlink, "w.bin", folder / "link") in refused
    assert error_of(os.mkfifo, folder / "fifo") in refused


def test_modes_and_owners_stay(mnt):
    """Modes and owners of tensors are those of the mount's options (EPERM for others); times can be set, without effect."""
    path = mnt.file("w")
    before = path.stat()
    os.chmod(path, stat.S_IMODE(before.st_mode))
    os.chown(path, before.st_uid, before.st_gid)
    assert error_of(os.chmod, path, 0o777) == errno.EPERM
    assert error_of(os.chown, path, 1234, -1) == errno.EPERM
    os.utime(path, (1, 1))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_no_holes_are_made(mnt):
    """fallocate makes no holes in tensors and no room (EOPNOTSUPP)."""
    with opened(mnt.file("w"), os.O_RDWR) as fd:
        for flags in ([], ["--punch-hole"], ["--zero-range"], ["--collapse-range"]):
            done = run("fallocate", *flags, "--offset", "0", "--length", "4096", mnt.file("w"))
            assert done.returncode != 0 and "unsupported" in done.stderr.replace("not supported", "unsupported"), flags
        assert error_of(os.posix_fallocate, fd, 0, SIZE) in (None, errno.EOPNOTSUPP)
        assert os.fstat(fd).st_size == SIZE
    assert mnt.bytes("w") == OLD


def test_extended_attributes_are_facts(mnt):
    """Extended attributes tell of a tensor, and are not set or removed."""
    assert os.getxattr(mnt.file("w"), "user.onnx.dtype") == b"float32"
    assert error_of(os.getxattr, mnt.file("w"), "user.none") == errno.ENODATA
    refused = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EROFS)
    assert error_of(os.setxattr, mnt.file("w"), "user.onnx.dtype", b"x") in refused
    assert error_of(os.removexattr, mnt.file("w"), "user.onnx.dtype") in refused


def test_access_times_stay(mnt):
    """Reading sets no access time: it is the modification time."""
    mnt.bytes("w")
    status = mnt.file("w").stat()
    assert status.st_atime_ns == status.st_mtime_ns
