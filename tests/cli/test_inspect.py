# SPDX-License-Identifier: MIT
"""The verb inspect: its numbers against those counted here, and its text."""
import json
import math

import run as harness

F32 = 1e-6


def load(ctx, *words):
    return ctx.json(["inspect", "bar.gltf", "--json"] + list(words))


def test_numbers_of_the_bar(ctx):
    ctx.gltf()
    facts = load(ctx)
    totals = facts["totals"]
    assert (totals["meshes"], totals["primitives"], totals["vertices"], totals["triangles"]) == (1, 1, 6, 4)
    assert (totals["posed_vertices"], totals["posed_triangles"]) == (6, 4)
    assert (totals["nodes"], totals["nodes_in_scene"], totals["depth"]) == (3, 3, 2)
    assert facts["size"] == (ctx.tmp / "bar.gltf").stat().st_size
    mesh = facts["meshes"][0]
    assert mesh["name"] == "bar mesh" and mesh["targets"] == [{"name": "wide", "weight": 0}]
    primitive = mesh["primitives"][0]
    assert primitive["topology"] == "triangles" and primitive["indices"] == 12
    assert primitive["material"] == {"index": 0, "name": "clay"}
    assert [a["name"] for a in primitive["attributes"]] == ["POSITION", "NORMAL", "JOINTS_0", "WEIGHTS_0"]
    assert primitive["declared_box"] == {"min": [-0.5, 0, 0], "max": [0.5, 2, 0.25]} == primitive["stored_box"]
    influences = primitive["influences"]
    assert influences["histogram"] == [0, 4, 2] and influences["most_per_vertex"] == 2
    assert influences["sets"] == 1 and influences["joints_used"] == 2
    assert (influences["lowest_joint"], influences["highest_joint"]) == (0, 1)
    assert influences["worst_sum_error"] == 0


def test_numbers_of_skin_and_clips(ctx):
    ctx.gltf()
    facts = load(ctx)
    skin = facts["skins"][0]
    assert (skin["name"], skin["joints"], skin["joints_used"], skin["depth"], skin["roots"]) == ("bar skin", 2, 2, 2, 1)
    assert skin["inverse_binds"] is True and skin["handedness"] == "right" and skin["instances"] == 1
    assert skin["effective_scale"] == {"min": 1, "max": 1}
    bend, slide = facts["clips"]
    assert (bend["name"], bend["duration"], bend["keys"], bend["channels"]) == ("bend", 1, 3, 1)
    assert bend["interpolation"] == {"LINEAR": 1, "STEP": 0, "CUBICSPLINE": 0}
    assert bend["paths"]["rotation"] == 1 and bend["joints"] == 1 and bend["first_key"] == 0
    assert (slide["duration"], slide["first_key"], slide["keys"]) == (2, 0.5, 2)
    assert slide["interpolation"]["STEP"] == 1 and slide["paths"]["translation"] == 1
    assert facts["instances"] == [{"node": 2, "name": "bar", "mesh": 0, "skin": 0}]


def test_weight_sums_unused_vertices_and_joints(ctx):
    positions = [[i, 0, 0] for i in range(8)]
    weights = [[0.25, 0.25, 0, 0]] + [[1, 0, 0, 0]] * 6 + [[0.2, 0.2, 0.4, 0.2]]
    joints = [[0, 1, 0, 0]] * 7 + [[0, 0, 0, 0]]
    ctx.gltf(positions=positions, weights=weights, joints=joints)
    influences = load(ctx)["meshes"][0]["primitives"][0]["influences"]
    assert influences["histogram"] == [0, 7, 1]
    assert abs(influences["worst_sum_error"] - 0.5) < F32 and influences["worst_sum_vertex"] == 0
    assert influences["normalized_vertices"] == 1 and influences["merged_vertices"] == 1
    assert load(ctx)["meshes"][0]["primitives"][0]["unreferenced_vertices"] == 2


def test_rigid_mesh(ctx):
    def rigid(document):
        del document["nodes"][2]["skin"]
        attributes = document["meshes"][0]["primitives"][0]["attributes"]
        del attributes["JOINTS_0"], attributes["WEIGHTS_0"]
    ctx.gltf(edit=rigid)
    facts = load(ctx)
    primitive = facts["meshes"][0]["primitives"][0]
    assert primitive["influences"] is None
    assert primitive["bytes_per_vertex"] == {"packed_read": 16, "packed_written": 16, "plain_read": 24}
    assert facts["instances"][0]["skin"] is None and facts["skins"][0]["joints_used"] == 0
    assert "none (rigid)" in ctx.pelt("inspect bar.gltf").out


def test_bytes_per_vertex(ctx):
    ctx.gltf()
    assert load(ctx)["meshes"][0]["primitives"][0]["bytes_per_vertex"] == {
        "packed_read": 12 + 4 + 4 + 4, "packed_written": 16, "plain_read": 12 + 12 + 2 * 6}
    assert ctx.pelt("gen wide --joints 24 --influences 12 -o w.glb").rc == 0
    primitive = ctx.json("inspect w.glb --json")["meshes"][0]["primitives"][0]
    most = primitive["influences"]["most_per_vertex"]
    names = [a["name"] for a in primitive["attributes"]]
    written = 12 + 4 * ("NORMAL" in names) + 4 * ("TANGENT" in names)
    assert most == 12 and primitive["influences"]["sets"] == 3
    assert primitive["bytes_per_vertex"]["packed_read"] == written + 8 + 4 * 8
    assert sum(primitive["influences"]["histogram"]) == primitive["vertices"]


def skin_with(ctx, scale, bind=None):
    def edit(document):
        document["nodes"][0]["scale"] = scale
        if bind is None:
            del document["skins"][0]["inverseBindMatrices"]
    ctx.gltf(edit=edit)
    return load(ctx)["skins"][0]


def test_effective_scale_and_handedness(ctx):
    skin = skin_with(ctx, [2, 2, 2])
    assert skin["effective_scale"] == {"min": 2, "max": 2} and skin["handedness"] == "right"
    skin = skin_with(ctx, [1, 4, 0.5])
    assert skin["effective_scale"] == {"min": 0.5, "max": 4} and skin["inverse_binds"] is False
    skin = skin_with(ctx, [-1, 1, 1])
    assert skin["handedness"] == "left" and skin["mirrored_joints"] == 2
    assert skin["effective_scale"] == {"min": 1, "max": 1}
    skin = skin_with(ctx, [1, 0, 1])
    assert skin["singular_joints"] == 2 and skin["handedness"] == "none" and skin["effective_scale"]["min"] == 0


def test_scale_of_a_shear_is_its_singular_values(ctx):
    # Non-uniform scale under a rotation by 30 degrees, seen through the child's own rotation: a shear by s has the
    # singular values (sqrt(s^2 + 4) +- s) / 2.
    s = 0.75
    shear = [1, 0, 0, 0, s, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]

    def edit(document):
        document["nodes"][0] = {"name": "root", "children": [1], "matrix": shear}
        del document["skins"][0]["inverseBindMatrices"]
    ctx.gltf(edit=edit)
    scale = load(ctx)["skins"][0]["effective_scale"]
    assert abs(scale["max"] - (math.sqrt(s * s + 4) + s) / 2) < 1e-6
    assert abs(scale["min"] - (math.sqrt(s * s + 4) - s) / 2) < 1e-6


def test_one_mirrored_joint_is_mixed(ctx):
    ctx.gltf(edit=lambda d: d["nodes"][1].update(scale=[1, 1, -1]))
    skin = load(ctx)["skins"][0]
    assert skin["handedness"] == "mixed" and (skin["right_handed_joints"], skin["mirrored_joints"]) == (1, 1)


def test_huge_matrices_are_told_not_hidden(ctx):
    ctx.gltf(edit=lambda d: (d["nodes"][0].update(scale=[1e30, 1e30, 1e30]), d["nodes"][1].update(scale=[1e30, 1, 1])))
    result = ctx.pelt("inspect bar.gltf --json")
    if result.rc == 0:
        assert json.loads(result.out)["skins"][0]["overflowing_joints"] == 1
    assert result.rc in (0, 4)


def test_depth_counts_joints_and_joints_outside_the_scene(ctx):
    def edit(document):
        document["nodes"] = [
            {"name": "a", "children": [3]}, {"name": "b", "children": [4]}, {"name": "bar", "mesh": 0, "skin": 0},
            {"name": "between", "children": [1]}, {"name": "c"}, {"name": "alone"},
        ]
        document["skins"] = [{"joints": [4, 0, 1, 5]}]
        document["scenes"] = [{"nodes": [0, 2]}]
        del document["animations"]
    ctx.gltf(edit=edit)
    facts = load(ctx)
    skin = facts["skins"][0]
    assert (skin["depth"], skin["roots"], skin["joints_outside_scene"]) == (3, 2, 1)
    assert facts["totals"]["nodes_in_scene"] == 5 and facts["totals"]["depth"] == 4


def test_tree_shows_joints_meshes_and_clips(ctx):
    ctx.gltf()
    plain = ctx.pelt("inspect bar.gltf").out
    text = ctx.pelt("inspect bar.gltf --tree").out
    assert text.startswith(plain)
    lines = text[len(plain):].splitlines()
    assert lines == ["", "tree", "  root  [joint 0 of skin 0]", "    tip  [joint 1 of skin 0]  [moved by 2 clips]",
                     "  bar  [mesh 0, skin 0]"]
    nodes = load(ctx, "--tree")["nodes"]
    assert [n["name"] for n in nodes] == ["root", "tip", "bar"]
    assert [n["parent"] for n in nodes] == [None, 0, None]
    assert [n["clips"] for n in nodes] == [0, 2, 0] and nodes[1]["joints"] == [{"skin": 0, "joint": 1}]
    assert "nodes" not in load(ctx)


def test_text_is_golden(ctx):
    ctx.gltf()
    ctx.golden("inspect_bar.txt", ctx.pelt("inspect bar.gltf --tree").out)


def test_extensions_are_listed(ctx):
    ctx.gltf(extensionsUsed=["KHR_mesh_quantization", "EXT_made_up"], extensionsRequired=["KHR_mesh_quantization"])
    assert load(ctx)["extensions"] == [{"name": "KHR_mesh_quantization", "required": True},
                                       {"name": "EXT_made_up", "required": False}]
    assert "KHR_mesh_quantization (required), EXT_made_up" in ctx.pelt("inspect bar.gltf").out


def test_max_influences_reports_what_was_lost(ctx):
    ctx.gltf(weights=[[0.7, 0.3, 0, 0]] * 6)
    influences = load(ctx, "--max-influences", "1")["meshes"][0]["primitives"][0]["influences"]
    assert influences["reduced_vertices"] == 6 and abs(influences["worst_reduced_weight"] - 0.3) < F32
    assert influences["histogram"] == [0, 6]


def test_a_file_with_nothing_in_it(ctx):
    (ctx.tmp / "bar.gltf").write_text('{"asset": {"version": "2.0"}}')
    facts = load(ctx, "--tree")
    assert facts["meshes"] == facts["skins"] == facts["clips"] == facts["instances"] == facts["nodes"] == []
    assert ctx.pelt("inspect bar.gltf --tree").rc == 0


def chain(depth):
    nodes = [{"children": [i + 1]} for i in range(depth - 1)] + [{"name": "end"}]
    return {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes}


def test_a_chain_of_100000_nodes(ctx):
    (ctx.tmp / "bar.gltf").write_text(json.dumps(chain(100000)))
    result = ctx.pelt("inspect bar.gltf --tree")
    assert result.rc == 0 and "100,000 deep" in result.out and "(level 100000) end" in result.out
    assert len(result.out) < 15_000_000
    assert load(ctx)["totals"]["depth"] == 100000
