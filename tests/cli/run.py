#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the command, printed as TAP.

usage: run.py PELT SCRATCH [--update] [-k TEXT] [--but TEXT]...

Runs every function test_* of every test_*.py beside this file, each with a Context (below) whose folder
SCRATCH/<file>.<function> is empty and its own. A test fails by an exception, so plain assert does.
--update writes the golden files of tests/cli/golden anew from what the command prints now; read the difference before
keeping it. -k runs only tests with TEXT in their name, --but those without. Only the standard library is used.
"""
import argparse
import base64
import collections
import copy
import difflib
import importlib.util
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
Result = collections.namedtuple("Result", "rc out err")


class Skipped(Exception):
    pass


def data_uri(data):
    return "data:application/octet-stream;base64," + base64.b64encode(data).decode()


class Buffer:
    """Collects accessors of one glTF buffer."""

    def __init__(self):
        self.data = bytearray()
        self.views = []
        self.accessors = []

    def add(self, values, shape, component=5126, bounds=False, normalized=False):
        """Adds rows of numbers (plain numbers for SCALAR) and returns the accessor's index."""
        rows = [v if isinstance(v, (list, tuple)) else [v] for v in values]
        code = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}[component]
        while len(self.data) % 4:
            self.data.append(0)
        raw = b"".join(struct.pack("<%d%s" % (len(r), code), *r) for r in rows)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)})
        self.data += raw
        accessor = {
            "bufferView": len(self.views) - 1,
            "componentType": component,
            "count": len(rows),
            "type": shape,
        }
        if normalized:
            accessor["normalized"] = True
        if bounds:
            columns = list(zip(*rows))
            accessor["min"] = [min(c) for c in columns]
            accessor["max"] = [max(c) for c in columns]
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def bar(weights=None, joints=None, positions=None, normals=True):
    """A bar of six vertices along y on two joints, with two clips: "bend" turns joint 1 by 90 degrees in a second,
    "slide" moves it by steps in two seconds. Nodes: 0 and 1 are the joints, 2 holds the mesh. Morph target "wide"."""
    b = Buffer()
    positions = positions or [[x, y, 0.25 * (y == 1)] for y in (0, 1, 2) for x in (-0.5, 0.5)]
    count = len(positions)
    joints = joints or [[0, 1, 0, 0]] * count
    weights = weights or [[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]]
    identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    down = identity[:12] + [0, -1, 0, 1]
    half = 0.7071067811865476
    attributes = {
        "POSITION": b.add(positions, "VEC3", bounds=True),
        "JOINTS_0": b.add(joints, "VEC4", component=5121),
        "WEIGHTS_0": b.add(weights, "VEC4"),
    }
    if normals:
        attributes["NORMAL"] = b.add([[0, 0, 1]] * count, "VEC3")
    indices = b.add([0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4], "SCALAR", component=5123)
    binds = b.add([identity, down], "MAT4")
    target = b.add([[0.1 if p[0] > 0 else -0.1, 0, 0] for p in positions], "VEC3", bounds=True)
    times = b.add([0, 0.5, 1], "SCALAR", bounds=True)
    turns = b.add([[0, 0, 0, 1], [0, 0, 0.3826834323650898, 0.9238795325112867], [0, 0, half, half]], "VEC4")
    steps = b.add([0.5, 2], "SCALAR", bounds=True)
    moves = b.add([[0, 1, 0], [1, 1, 0]], "VEC3")
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 2]}],
        "nodes": [
            {"name": "root", "children": [1]},
            {"name": "tip", "translation": [0, 1, 0]},
            {"name": "bar", "mesh": 0, "skin": 0},
        ],
        "meshes": [
            {
                "name": "bar mesh",
                "primitives": [{"attributes": attributes, "indices": indices, "material": 0,
                                "targets": [{"POSITION": target}]}],
                "weights": [0],
                "extras": {"targetNames": ["wide"]},
            }
        ],
        "materials": [{"name": "clay"}],
        "skins": [{"name": "bar skin", "joints": [0, 1], "inverseBindMatrices": binds}],
        "animations": [
            {"name": "bend",
             "samplers": [{"input": times, "output": turns}],
             "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}]},
            {"name": "slide",
             "samplers": [{"input": steps, "output": moves, "interpolation": "STEP"}],
             "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}]},
        ],
        "accessors": b.accessors,
        "bufferViews": b.views,
        "buffers": [{"byteLength": len(b.data), "uri": data_uri(bytes(b.data))}],
    }


class Context:
    def __init__(self, pelt, tmp, update):
        self.binary = str(pelt)
        self.tmp = tmp  # pathlib.Path of an empty folder
        self.update = update

    def environment(self, **extra):
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
        return {**kept, "TERM": "dumb", **extra}

    def pelt(self, args, env=None, timeout=120, **keywords):
        """Runs the command in the test's folder with a list of words, or one text to be split at blanks. Returns
        (rc, out, err); bytes that are no UTF-8 come as lone surrogates."""
        words = args.split() if isinstance(args, str) else [a if isinstance(a, bytes) else str(a) for a in args]
        keywords.setdefault("stdout", subprocess.PIPE)
        keywords.setdefault("stderr", subprocess.PIPE)
        p = subprocess.run([self.binary] + words, cwd=self.tmp, stdin=subprocess.DEVNULL, timeout=timeout,
                           env=self.environment(**(env or {})), **keywords)
        out, err = ((s or b"").decode("utf-8", "surrogateescape") for s in (p.stdout, p.stderr))
        return Result(p.returncode, out, err)

    def json(self, args, rc=0, **keywords):
        """Runs the command, demands the exit code, and returns what it printed as JSON."""
        result = self.pelt(args, **keywords)
        assert result.rc == rc, "exit %d instead of %d: %s" % (result.rc, rc, result.err)
        return json.loads(result.out)

    def fails(self, args, rc, *parts, **keywords):
        """Runs the command and demands the exit code and a message of "pelt: ..." with all parts."""
        result = self.pelt(args, **keywords)
        assert result.rc == rc, "exit %d instead of %d: %s" % (result.rc, rc, result.err)
        assert result.err.startswith("pelt: "), result.err
        for part in parts:
            assert part in result.err, "%r is not in %r" % (part, result.err)
        return result

    def gltf(self, name="bar.gltf", edit=None, **parts):
        """Writes the two-joint bar and returns its path. parts replaces top-level members (None removes one), edit
        changes the document in place; weights, joints, positions and normals go to bar()."""
        shape = {k: parts.pop(k) for k in ("weights", "joints", "positions", "normals") if k in parts}
        document = copy.deepcopy(bar(**shape))
        for key, value in parts.items():
            document.pop(key, None)
            if value is not None:
                document[key] = value
        if edit:
            edit(document)
        path = self.tmp / name
        path.write_text(json.dumps(document))
        return path

    def files(self):
        """Names in the test's folder, the hidden ones too."""
        return sorted(os.listdir(self.tmp))

    def golden(self, name, text):
        path = HERE / "golden" / name
        if self.update:
            path.write_text(text)
            return
        wanted = path.read_text()
        if wanted != text:
            lines = difflib.unified_diff(wanted.splitlines(), text.splitlines(), "golden/" + name, "now", lineterm="")
            raise AssertionError("\n".join(lines) or "differs in line ends")

    def skip(self, reason):
        raise Skipped(reason)


def discover(pattern, left_out=()):
    sys.path.insert(0, str(HERE))
    for path in sorted(HERE.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, function in list(vars(module).items()):
            if name.startswith("test_") and callable(function) and pattern in path.stem + "." + name:
                if not any(text in path.stem + "." + name for text in left_out):
                    yield path.stem[5:] + "." + name[5:], function


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pelt")
    parser.add_argument("scratch")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("-k", default="", metavar="TEXT")
    parser.add_argument("--but", action="append", default=[], metavar="TEXT")
    arguments = parser.parse_args()
    sys.dont_write_bytecode = True
    pelt = pathlib.Path(arguments.pelt).resolve()
    scratch = pathlib.Path(arguments.scratch).resolve()
    tests = list(discover(arguments.k, arguments.but))
    print("TAP version 13\n1..%d" % len(tests), flush=True)
    failed = 0
    for number, (name, function) in enumerate(tests, 1):
        tmp = scratch / name
        shutil.rmtree(tmp, ignore_errors=True)
        tmp.mkdir(parents=True)
        try:
            function(Context(pelt, tmp, arguments.update))
            print("ok %d - %s" % (number, name), flush=True)
            shutil.rmtree(tmp, ignore_errors=True)
        except Skipped as reason:
            print("ok %d - %s # SKIP %s" % (number, name, reason), flush=True)
        except Exception:  # any exception is a failed test
            failed += 1
            print("not ok %d - %s" % (number, name))
            for line in traceback.format_exc().splitlines():
                print("# " + line.encode("utf-8", "backslashreplace").decode(), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
