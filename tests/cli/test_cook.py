# SPDX-License-Identifier: MIT
"""`pelt cook` of one file, and .pelt files under every other verb."""
import json
import math
import os
import random
import struct

import export_read as read

SETS = [[0.61, 0.39, 0, 0], [0.123, 0.877, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.333, 0.667, 0, 0], [0.25, 0.75, 0, 0]]


def cook(ctx, source="bar.gltf", output="bar.pelt", *options, rc=0):
    """The file's entry of the command's JSON."""
    root = ctx.json(["cook", source, "-o", output, "--json", "--force", *options], rc=rc)
    assert root["schema"] == "pelt/cook/1" and len(root["files"]) == 1
    return root["files"][0]


def octopus(ctx, *options):
    assert ctx.pelt(["gen", "octopus", "--vertices", "3000", "-o", "octopus.glb", *options]).rc == 0
    return "octopus.glb"


def posed(ctx, source, *options):
    ctx.json(["pose", source, "-o", "read.npz", "--force", "--json", *options])
    arrays = read.read_npz(ctx.tmp / "read.npz")
    return [read.groups(arrays["positions_%d" % k][2], 3) for k in range(sum(n.startswith("positions_") for n in arrays))]


def source_vertices(path):
    """The remap of each primitive, from the section table of docs/format.md."""
    data = path.read_bytes()
    table, count, size = struct.unpack_from("<QII", data, 48)
    found = {}
    for i in range(count):
        kind, _, owner, sub, offset, length = struct.unpack_from("<4sIIIQQ", data, table + i * size)
        if kind == b"SRCV":
            found[owner] = struct.unpack_from("<%dI" % (length // 4), data, offset)
    return [found[k] for k in sorted(found)]


def test_poses_stay_within_the_printed_error_through_the_remap(ctx):
    source = octopus(ctx)
    for weights in ("sorted", "plain"):
        entry = cook(ctx, source, "o.pelt", "--weights", weights)
        remap = source_vertices(ctx.tmp / "o.pelt")
        limit = entry["error"]["position"]
        assert 0 < limit < 1e-2 and entry["moments"] > 2 and entry["clips"] == 2
        worst = 0
        for options in (["--clip", "#0", "--time", "0"], ["--clip", "#1", "--time", "0"]):
            a, b = posed(ctx, source, *options), posed(ctx, "o.pelt", *options)
            assert len(a) == len(b) == len(remap)
            for one, other, indices in zip(a, b, remap):
                assert len(other) == len(indices) and sorted(set(indices)) == sorted(indices)
                worst = max(worst, max(math.dist(one[s], q) for s, q in zip(indices, other)))
        assert worst <= limit * (1 + 1e-5), (worst, limit)


def test_sorted_weights_lose_less_than_plain_ones(ctx):
    source = octopus(ctx)
    both = [cook(ctx, source, "o.pelt", "--weights", w)["error"]["position"] for w in ("sorted", "plain")]
    assert both[0] <= both[1] / 2, both


def test_the_json_tells_streams_requests_runs_and_losses(ctx):
    entry = cook(ctx, octopus(ctx), "o.pelt")
    assert entry["file"] == "octopus.glb" and entry["output"] == "o.pelt" and entry["status"] == "cooked"
    assert entry["size"] == os.path.getsize(ctx.tmp / "o.pelt")
    assert entry["source_size"] == os.path.getsize(ctx.tmp / "octopus.glb")
    assert entry["published"] == {"before": 564, "after": 220} and entry["over"] is None
    p = entry["primitives"][0]
    streams = {s["name"]: (s["before"], s["after"]) for s in p["bytes_per_vertex"]["streams"]}
    assert streams["positions"] == (12, 12) and streams["normals"] == (12, 4) and streams["weights"] == (16, 4)
    assert 4 <= streams["joints"][1] < 4.2 and streams["joints"][0] == 8
    layout = p["bytes_per_vertex"]
    assert abs(layout["read"] - sum(a for _, a in streams.values())) < 1e-6
    assert abs(layout["read_before"] - sum(b for b, _ in streams.values())) < 1e-6
    requested = layout["requested"]
    classes = p["runs"]["influence_classes"]
    mean = sum(c * (i + 1) for i, c in enumerate(classes)) / sum(classes)
    assert classes[4] == 0 and sum(classes) == p["vertices"]
    assert abs(requested["influences"] - mean) < 1e-6 and abs(requested["palette"] - 48 * mean) < 1e-4
    assert abs(requested["total"] - layout["read"] - 48 * mean) < 1e-4
    assert abs(requested["list_palette"] - 48 * p["runs"]["list_joints"] / p["vertices"]) < 1e-4
    assert requested["replaced"] == layout["read_before"] + 512
    assert requested["list_total"] < requested["total"] < requested["replaced"]
    assert p["weights"] == "sorted" and p["joints"] == "run lists" and p["runs_before"]["runs"] >= 1
    assert p["error"]["position"] >= p["error"]["position_rms"] > 0
    assert p["error"]["position_share"] >= p["error"]["position_rms_share"] > 0
    assert 0 < p["error"]["normal_degrees"] < 1


def test_the_text_tells_the_same(ctx):
    source = octopus(ctx)
    text = ctx.pelt(["cook", source, "-o", "o.pelt"])
    assert text.rc == 0 and text.err == ""
    for part in ("octopus.glb -> o.pelt", "positions at most", "% of the diagonal", "RMS", "normals at most", "key times and an "
                 "even grid", "bytes per vertex", "requested per vertex", "3x4", "published: 564 -> 220", "runs in file order",
                 "runs as written", "influences", "sorted weights"):
        assert part in text.out, part


def test_what_was_normalised_merged_and_dropped_is_told(ctx):
    def edit(document):
        document["accessors"][document["meshes"][0]["primitives"][0]["indices"]]["count"] = 6
    ctx.gltf(weights=[[2, 0, 0, 0], [0.5, 0.5, 0, 0]] * 3, joints=[[0, 1, 0, 0], [1, 1, 0, 0]] * 3, edit=edit)
    entry = cook(ctx)
    p = entry["primitives"][0]
    assert p["changes"]["normalized_vertices"] == 3 and p["changes"]["merged_vertices"] == 3
    assert p["source_vertices"] == 6 and p["vertices"] == 4 and p["dropped_vertices"] == 2
    assert any("normalised" in w["message"] or "sum" in w["message"] for w in entry["warnings"]), entry["warnings"]
    text = ctx.pelt("cook bar.gltf -o bar.pelt --force").out
    for part in ("normalised", "merged", "dropped", "2 of 6 vertices"):
        assert part in text, part
    kept = cook(ctx, "bar.gltf", "bar.pelt", "--keep-order")["primitives"][0]
    assert kept["vertices"] == 6 and source_vertices(ctx.tmp / "bar.pelt")[0] == tuple(range(6))


def test_a_file_without_clips_is_measured_at_rest(ctx):
    ctx.gltf(animations=None)
    entry = cook(ctx)
    assert entry["clips"] == 0 and entry["moments"] == 1 and entry["error"] is not None
    assert "in the rest pose" in ctx.pelt("cook bar.gltf -o bar.pelt --force").out


def test_a_mesh_outside_the_scene_is_cooked_and_not_measured(ctx):
    ctx.gltf(scenes=[{"nodes": [0]}])
    entry = cook(ctx)
    assert entry["error"] is None and entry["primitives"][0]["error"] is None
    assert "not in the default scene" in ctx.pelt("cook bar.gltf -o bar.pelt --force").out


def test_max_error_is_a_verdict_and_the_file_is_written(ctx):
    ctx.gltf(weights=SETS)
    error = cook(ctx)["error"]["position"]
    assert error > 0
    (ctx.tmp / "bar.pelt").unlink()
    assert cook(ctx, "bar.gltf", "bar.pelt", "--max-error", repr(error * 1.001))["over"] is False
    entry = cook(ctx, "bar.gltf", "bar.pelt", "--max-error", repr(error * 0.999), rc=1)
    assert entry["over"] is True and (ctx.tmp / "bar.pelt").exists()
    assert ctx.pelt("cook bar.gltf -o bar.pelt --force --max-error 0").rc == 1
    assert ctx.pelt("cook bar.gltf -o bar.pelt --force --max-error 1").rc == 0
    ctx.fails("cook bar.gltf -o b.pelt --max-error -1", 2, "--max-error")


def test_bytes_do_not_depend_on_threads(ctx):
    source = octopus(ctx)
    files = []
    for threads in ("1", "2", "7"):
        cook(ctx, source, "o.pelt", "--threads", threads)
        files.append((ctx.tmp / "o.pelt").read_bytes())
    assert files[0] == files[1] == files[2]


def test_options_change_what_they_say(ctx):
    assert ctx.pelt("gen wide --vertices 500 --influences 7 -o wide.glb").rc == 0
    p = cook(ctx, "wide.glb", "w.pelt")["primitives"][0]
    assert p["runs"]["influence_classes"][4] > 0
    extras = {s["name"]: s["after"] for s in p["bytes_per_vertex"]["streams"]}["further influences"]
    assert 12 <= extras < 17, extras  # three pairs and an offset
    assert cook(ctx, "wide.glb", "w.pelt", "--direct-joints")["primitives"][0]["joints"] == "direct 8-bit"
    assert cook(ctx, "wide.glb", "w.pelt", "--max-influences", "4")["primitives"][0]["runs"]["influence_classes"][4] == 0
    assert ctx.pelt("gen worm --joints 600 --vertices 3000 -o worm.glb").rc == 0
    assert cook(ctx, "worm.glb", "d.pelt", "--direct-joints")["primitives"][0]["joints"] == "direct 16-bit"
    plain = cook(ctx, octopus(ctx), "o.pelt")
    half = cook(ctx, "octopus.glb", "o.pelt", "--morph16")
    assert half["size"] < plain["size"] and half["primitives"][0]["morph_error"] > 0
    assert plain["primitives"][0]["morph_error"] == 0
    before = (ctx.tmp / "o.pelt").read_bytes()
    cook(ctx, "octopus.glb", "o.pelt", "--morph16", "--morph-range", "-2:3")
    assert (ctx.tmp / "o.pelt").read_bytes() != before


def test_wrong_options_are_refused(ctx):
    ctx.gltf()
    ctx.fails("cook bar.gltf", 2, "cook needs --output")
    ctx.fails("cook -o a.pelt", 2, "cook needs a FILE")
    ctx.fails("cook bar.gltf -o bar.glb", 2, "neither a .pelt file nor a folder", "end its name in .pelt")
    ctx.fails("cook bar.gltf -o a.pelt --weights best", 2, "sorted|plain")
    for value in ("1", "1:", ":1", "2:1", "0:0", "a:b", "0:1:2", "nan:1", "0:inf", "-1e9:0"):
        ctx.fails(["cook", "bar.gltf", "-o", "a.pelt", "--morph-range=" + value], 2, "--morph-range takes MIN:MAX")
    for value in ("0/3", "4/3", "1", "1/", "/3", "a/b", "1/2/3", "-1/2", "1/99999999", "1/0"):
        ctx.fails(["cook", "bar.gltf", "-o", "a.pelt", "--shard=" + value], 2, "--shard takes I/N")
    ctx.fails("cook bar.gltf -o a.pelt --shard 1/2", 2, "--shard divides many inputs")
    ctx.fails("cook - -o a.pelt", 2, "standard input")
    ctx.fails("cook bar.gltf - -o a", 2, "standard input")
    ctx.fails("cook bar.gltf -o -", 2, "standard output")
    ctx.fails("cook bar.gltf -o a.pelt --clip x", 2, "cook takes no option --clip")
    ctx.fails("pose bar.gltf -o a.glb --shard 1/2", 2, "it belongs to cook")
    assert ctx.files() == ["bar.gltf"]


def test_exit_codes(ctx):
    ctx.gltf()
    ctx.fails("cook missing.glb -o a.pelt", 3, "missing.glb")
    (ctx.tmp / "broken.glb").write_bytes(b"glTF\2\0\0\0")
    ctx.fails("cook broken.glb -o a.pelt", 4, "broken.glb")
    ctx.gltf("draco.gltf", extensionsUsed=["KHR_draco_mesh_compression"],
             extensionsRequired=["KHR_draco_mesh_compression"])
    ctx.fails("cook draco.gltf -o a.pelt", 5, "KHR_draco_mesh_compression")
    ctx.fails("cook bar.gltf -o a.pelt --max-vertices 3", 7, "--max-vertices")
    assert not (ctx.tmp / "a.pelt").exists()
    assert ctx.pelt("cook bar.gltf -o a.pelt").rc == 0
    ctx.fails("cook bar.gltf -o a.pelt", 3, "exists already", "--force")
    assert ctx.pelt("cook bar.gltf -o a.pelt --force").rc == 0
    ctx.fails("cook a.pelt -o b.pelt", 5, "cooked already")
    ctx.fails("cook bar.gltf -o missing/a.pelt", 3, "make the folder")
    error = ctx.json("cook missing.glb -o b.pelt --json", rc=3)
    assert error["schema"] == "pelt/error/1" and error["file"] == "missing.glb"


def test_the_source_hash_covers_external_buffers_and_import_options(ctx):
    ctx.gltf()
    document = json.loads((ctx.tmp / "bar.gltf").read_text())
    import base64
    data = bytearray(base64.b64decode(document["buffers"][0]["uri"].split(",")[1]))
    document["buffers"][0]["uri"] = "bar.bin"
    (ctx.tmp / "ext.gltf").write_text(json.dumps(document))
    (ctx.tmp / "bar.bin").write_bytes(data)
    first = cook(ctx, "ext.gltf")["source_hash"]
    assert cook(ctx, "ext.gltf")["source_hash"] == first != cook(ctx, "bar.gltf")["source_hash"]
    assert cook(ctx, "ext.gltf", "bar.pelt", "--max-influences", "2")["source_hash"] != first
    data[0] ^= 1
    (ctx.tmp / "bar.bin").write_bytes(data)
    assert cook(ctx, "ext.gltf")["source_hash"] != first


# ---- .pelt under the other verbs


def test_inspect_tells_the_cooked_layout(ctx):
    source = octopus(ctx)
    cook(ctx, source, "o.pelt")
    text = ctx.pelt("inspect o.pelt --tree")
    assert text.rc == 0 and text.err == ""
    for part in ("sorted weights", "run lists", "streams", "positions 12", "runs", "requested", "clip #1", "tree"):
        assert part in text.out, part
    a, b = ctx.json(["inspect", source, "--json"]), ctx.json("inspect o.pelt --json")
    assert b["size"] == os.path.getsize(ctx.tmp / "o.pelt")
    for key in ("meshes", "primitives", "nodes", "nodes_in_scene", "depth", "triangles"):
        assert a["totals"][key] == b["totals"][key], key
    assert [c["name"] for c in a["clips"]] == [c["name"] for c in b["clips"]]
    assert [c["duration"] for c in a["clips"]] == [c["duration"] for c in b["clips"]]
    assert a["skins"][0]["name"] == b["skins"][0]["name"] and a["skins"][0]["joints"] == b["skins"][0]["joints"]
    cooked = b["meshes"][0]["primitives"][0]["cooked"]
    assert cooked["weights"] == "sorted" and cooked["runs"]["runs"] >= 1 and cooked["ordered"] is True
    assert "cooked" not in a["meshes"][0]["primitives"][0]


def test_boxes_of_a_pelt_are_those_of_the_source_within_the_error(ctx):
    source = octopus(ctx)
    limit = cook(ctx, source, "o.pelt")["error"]["position"] * 1.5
    a = ctx.json(["bounds", source, "--clip", "all", "--fps", "20", "--json"])
    b = ctx.json("bounds o.pelt --clip all --fps 20 --json")
    for one, other in zip(a["clips"], b["clips"]):
        assert one["times"] == other["times"]
        for side in ("min", "max"):
            assert all(abs(x - y) <= limit for x, y in zip(one["box"][side], other["box"][side]))


def test_every_export_format_takes_a_pelt(ctx):
    ctx.gltf()
    cook(ctx)
    for ending in ("glb", "gltf", "obj", "ply", "stl", "npz"):
        result = ctx.pelt(["pose", "bar.pelt", "--clip", "bend", "--time", "1", "-o", "out." + ending])
        assert result.rc == 0, result.err
    a = posed(ctx, "bar.gltf", "--clip", "bend", "--time", "1")[0]
    b = posed(ctx, "bar.pelt", "--clip", "bend", "--time", "1")[0]
    c = posed(ctx, "out.glb")[0]
    assert b == c
    for s, q in zip(source_vertices(ctx.tmp / "bar.pelt")[0], b):
        assert math.dist(a[s], q) < 1e-3
    document = json.loads((ctx.tmp / "out.gltf").read_text())
    assert [m["name"] for m in document["meshes"]] == ["bar mesh"] and "materials" not in document
    assert ctx.pelt("pose bar.pelt --morph wide=1 -o wide.glb").rc == 0
    assert ctx.pelt("pose bar.pelt --space mesh -o mesh.glb").rc == 0


def test_the_content_counts_not_the_name(ctx):
    ctx.gltf()
    cook(ctx)
    os.rename(ctx.tmp / "bar.pelt", ctx.tmp / "looks.glb")
    assert "run lists" in ctx.pelt("inspect looks.glb").out
    os.rename(ctx.tmp / "bar.gltf", ctx.tmp / "looks.pelt")
    assert ctx.pelt("inspect looks.pelt").rc == 0


def test_limits_hold_for_pelt_files_too(ctx):
    ctx.gltf()
    cook(ctx)
    ctx.fails("inspect bar.pelt --max-file-size 100", 7, "--max-file-size")
    ctx.fails("inspect bar.pelt --max-vertices 3", 7, "--max-vertices")
    ctx.fails("inspect bar.pelt --max-joints 1", 7, "--max-joints")
    ctx.fails("inspect bar.pelt --max-memory 10", 7)
    assert "no effect" in ctx.pelt("inspect bar.pelt --max-influences 2").err


def test_damaged_pelt_files_are_refused_by_every_verb(ctx):
    ctx.gltf(weights=SETS)
    cook(ctx)
    good = (ctx.tmp / "bar.pelt").read_bytes()
    rng = random.Random(7)
    verbs = (["inspect", "bad.pelt"], ["bounds", "bad.pelt", "--clip", "all"], ["pose", "bad.pelt", "-o", "out.glb"])

    def refuse(data, what, count):
        (ctx.tmp / "bad.pelt").write_bytes(data)
        result = ctx.pelt(verbs[count % 3])
        assert result.rc in (4, 5) and result.err.startswith("pelt: bad.pelt: "), (what, result)

    lengths = sorted({0, 1, 5, 8, 64, 128, len(good) - 1, len(good) // 2} | {rng.randrange(len(good)) for _ in range(40)})
    for count, length in enumerate(lengths):
        refuse(good[:length], "cut to %d" % length, count)
    for count in range(90):
        bad = bytearray(good)
        at = rng.randrange(len(good))
        bad[at] ^= 1 << rng.randrange(8)
        (ctx.tmp / "bad.pelt").write_bytes(bad)
        result = ctx.pelt(verbs[count % 3])
        # Bytes between sections belong to none, and may be checked or not.
        assert result.rc in (0, 4, 5), (at, result)
    refuse(good[:8] + b"\x01\x02\x03\x04" + good[12:], "other byte order", 0)
    refuse(good + b"x" * 7, "longer", 1)
    assert not (ctx.tmp / "out.glb").exists() or ctx.pelt("inspect out.glb").rc == 0
