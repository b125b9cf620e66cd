"""From tensor names to paths, written from the rules in prose and not from the program.

A component of a path is first spelled (escapes, then the cut), then placed in its folder, where an earlier entry may
have the same path.
"""

import ctypes
import ctypes.util

SUFFIXES = (b".bin", b".json", b".npy", b".txt", b".pb")  # of a tensor in one of the views; one stem serves them all
LONGEST, CUT = 200, 180
CONTROLS = frozenset((*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F),
                      *range(0x2066, 0x206A)))


def xxh3_64(data):
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    function = library.XXH3_64bits
    function.argtypes, function.restype = (ctypes.c_char_p, ctypes.c_size_t), ctypes.c_uint64
    return function(data, len(data))


def escape(data):
    return b"".join(b"%%%02X" % byte for byte in data)


def pieces(component):
    """The units that a cut keeps whole: a character, or an escape."""
    out = []
    at = 0
    while at < len(component):
        for size in (1, 2, 3, 4):
            try:
                character = component[at:at + size].decode("utf-8")
            except UnicodeDecodeError:
                continue
            if len(character) == 1:
                control = ord(character) in CONTROLS
                encoded = component[at:at + size]
                out += [escape(bytes([byte])) for byte in encoded] if control else [encoded]
                at += size
                break
        else:
            out.append(escape(component[at:at + 1]))
            at += 1
    return out


def spell(component):
    if component in (b".", b".."):
        return component.replace(b".", b"%2E")
    units = pieces(component)
    if sum(map(len, units)) <= LONGEST:
        return b"".join(units)
    kept = b""
    for unit in units:
        if len(kept) + len(unit) > CUT:
            break
        kept += unit
    return kept + b"~%016x" % xxh3_64(component)


class Folder:
    def __init__(self):
        self.stems = set()
        self.names = set()  # of the sub-folders
        self.wanted = {}    # the name that a sub-folder should have: (the name that it has, its Folder)

    def enter(self, name):
        """(name, folder) of the sub-folder for those who want it to be called `name`."""
        if name not in self.wanted:
            actual, number = name, 1
            while self.is_file(actual) or actual in self.names:
                number += 1
                actual = b"%s@%d" % (name, number)
            self.names.add(actual)
            self.wanted[name] = actual, Folder()
        return self.wanted[name]

    def is_file(self, name):
        return any(name.endswith(suffix) and name[:-len(suffix)] in self.stems for suffix in SUFFIXES)

    def add(self, stem):
        actual, number = stem, 1
        while actual in self.stems or any(actual + suffix in self.names for suffix in SUFFIXES):
            number += 1
            actual = b"%s@%d" % (stem, number)
        self.stems.add(actual)
        return actual


def stems_of(names):
    """The stem (path without a suffix, below initializers/) of each tensor; names are bytes, in file order."""
    root = Folder()
    out = []
    for name in names:
        components = [spell(part) for part in name.split(b"/") if part] or [b"unnamed"]
        folder, path = root, []
        for component in components[:-1]:
            actual, folder = folder.enter(component)
            path.append(actual)
        path.append(folder.add(components[-1]))
        out.append(b"/".join(path))
    return out
