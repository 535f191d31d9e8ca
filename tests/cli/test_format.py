# SPDX-License-Identifier: MIT
"""docs/format.md is enough to read a .pelt file: examples/read_pelt.py knows nothing else, and finds the positions that
`pose` finds."""
import importlib.util
import json
import math
import pathlib
import struct
import subprocess
import sys

READER = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "read_pelt.py"
OPTIONS = ([], ["--weights", "plain", "--morph16"], ["--keep-order"], ["--direct-joints", "--weights", "plain"])


def read_back(ctx, source, *options):
    """What the reader prints of the cooked source; it compares with the poses itself."""
    if importlib.util.find_spec("numpy") is None:
        ctx.skip("no NumPy")
    assert ctx.pelt(["cook", source, "-o", "a.pelt", "--force", "--quiet", *options]).rc == 0
    assert ctx.pelt(["pose", "a.pelt", "-o", "a.npz", "--force", "--quiet"]).rc == 0
    run = subprocess.run([sys.executable, str(READER), "a.pelt", "a.npz"], cwd=ctx.tmp, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_reader_has_60_lines_and_needs_numpy_only(ctx):
    lines = READER.read_text().splitlines()
    assert len(lines) <= 60
    assert [line for line in lines if line.startswith(("import ", "from "))] == ["import sys", "import numpy as np"]


def test_bars_read_back(ctx):
    def morphed(document):
        document["meshes"][0]["weights"] = [0.75]
        document["nodes"][1]["rotation"] = [0, 0, 0.6, 0.8]
    ctx.gltf(edit=morphed)
    for options in OPTIONS:
        text = read_back(ctx, "bar.gltf", *options)
        assert text.startswith("0: node 2, min ") and text.count("\n") == 1, text


def test_generated_models_read_back(ctx):
    for kind, more in (("octopus", ["--vertices", "5000"]), ("wide", ["--influences", "9"]), ("crowd", ["--count", "3"]),
                       ("deep", ["--joints", "400"])):
        assert ctx.pelt(["gen", kind, "-o", kind + ".glb", "--quiet", *more]).rc == 0
        for options in OPTIONS:
            assert read_back(ctx, kind + ".glb", *options)


def test_a_wrong_position_is_noticed(ctx):
    ctx.gltf()
    read_back(ctx, "bar.gltf")
    data = bytearray((ctx.tmp / "a.pelt").read_bytes())
    table, count = int.from_bytes(data[48:56], "little"), int.from_bytes(data[56:60], "little")
    for i in range(count):
        entry = data[table + 64 * i:table + 64 * i + 64]
        if entry[:4] == b"POSN":
            data[int.from_bytes(entry[16:24], "little") + 3] ^= 0x40
    (ctx.tmp / "a.pelt").write_bytes(data)
    run = subprocess.run([sys.executable, str(READER), "a.pelt", "a.npz"], cwd=ctx.tmp, capture_output=True, text=True)
    assert run.returncode == 1 and "a.npz" in run.stderr, run


def sections(data):
    """Contents by kind, owner and sub."""
    table, count, size = struct.unpack_from("<QII", data, 48)
    found = {}
    for i in range(count):
        kind, _, owner, sub, offset, length = struct.unpack_from("<4sIIIQQ", data, table + i * size)
        found[kind.decode(), owner, sub] = data[offset:offset + length]
    return found


def unit(x, y):
    """A direction from two coordinates in [-1, 1], by the page's words."""
    z = 1 - abs(x) - abs(y)
    if z < 0:
        x, y = math.copysign(1 - abs(y), x), math.copysign(1 - abs(x), y)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def test_directions_decode_as_the_page_says(ctx):
    assert ctx.pelt("gen octopus --vertices 2000 -o a.glb --quiet").rc == 0
    assert ctx.pelt("cook a.glb -o a.pelt --quiet").rc == 0
    glb = (ctx.tmp / "a.glb").read_bytes()
    length = struct.unpack_from("<I", glb, 12)[0]
    document = json.loads(glb[20:20 + length])
    attributes = document["meshes"][0]["primitives"][0]["attributes"]

    def floats(name, width):
        accessor = document["accessors"][attributes[name]]
        view = document["bufferViews"][accessor["bufferView"]]
        offset = 28 + length + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return [struct.unpack_from("<%df" % width, glb, offset + i * view.get("byteStride", 4 * width))
                for i in range(accessor["count"])]
    found = sections((ctx.tmp / "a.pelt").read_bytes())
    remap = [v[0] for v in struct.iter_unpack("<I", found["SRCV", 0, 0])]
    normals = floats("NORMAL", 3)
    for source, code in zip(remap, struct.iter_unpack("<hh", found["NRML", 0, 0])):
        assert math.dist(unit(max(code[0] / 32767, -1), max(code[1] / 32767, -1)), normals[source]) < 1e-4
    assert ("TANG", 0, 0) in found
    tangents = floats("TANGENT", 4)
    for source, (code,) in zip(remap, struct.iter_unpack("<I", found["TANG", 0, 0])):
        x = ((code & 0xFFFF) ^ 0x8000) - 0x8000
        y = ((code >> 16 & 0x7FFF) ^ 0x4000) - 0x4000
        assert math.dist(unit(max(x / 32767, -1), max(y / 16383, -1)), tangents[source][:3]) < 2e-4
        assert (-1 if code >> 31 else 1) == tangents[source][3]
