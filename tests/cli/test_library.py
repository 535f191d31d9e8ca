# SPDX-License-Identifier: MIT
"""`pelt cook` of folders: trees, shards, what is skipped and what fails."""
import os
import shutil
import signal
import subprocess
import time

NAMES = ["a.gltf", "b/c.GLTF", "b/d.gltf", "b/deep/e.gltf", "z.gltf"]


def library(ctx, folder="in", names=NAMES):
    for i, name in enumerate(names):
        path = ctx.tmp / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        ctx.gltf(str(path.relative_to(ctx.tmp)), weights=[[0.5 + 0.01 * (i % 50), 0.5 - 0.01 * (i % 50), 0, 0]] * 6)


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def states(root):
    return {f["file"]: f["status"] for f in root["files"]}


def test_the_output_tree_mirrors_the_input_tree(ctx):
    library(ctx)
    (ctx.tmp / "in/notes.txt").write_text("no model")
    root = ctx.json("cook in -o out --json")
    assert (root["cooked"], root["unchanged"], root["failed"], root["found"]) == (5, 0, 0, 5)
    assert sorted(tree(ctx.tmp / "out")) == ["a.pelt", "b/c.pelt", "b/d.pelt", "b/deep/e.pelt", "z.pelt"]
    assert [f["file"] for f in root["files"]] == ["in/" + n for n in NAMES]
    assert all(f["primitives"] and f["error"] for f in root["files"])
    for name in ("a", "b/d"):
        assert ctx.pelt(["cook", "in/%s.gltf" % name, "-o", "one.pelt", "--force"]).rc == 0
        assert (ctx.tmp / "one.pelt").read_bytes() == (ctx.tmp / "out" / (name + ".pelt")).read_bytes()


def test_several_files_go_into_a_folder(ctx):
    library(ctx)
    result = ctx.pelt("cook in/a.gltf in/b/d.gltf -o out")
    assert result.rc == 0 and result.err == ""
    assert sorted(tree(ctx.tmp / "out")) == ["a.pelt", "d.pelt"]
    assert result.out.splitlines()[0].startswith("a.gltf: cooked, ") and "2 cooked" in result.out.splitlines()[-1]
    assert ctx.pelt("cook in/z.gltf in/b -o out/").rc == 0
    assert sorted(tree(ctx.tmp / "out")) == ["a.pelt", "c.pelt", "d.pelt", "deep/e.pelt", "z.pelt"]
    assert ctx.pelt("cook in/a.gltf -o new/").rc == 0 and (ctx.tmp / "new/a.pelt").exists()
    (ctx.tmp / "file").write_text("")
    ctx.fails("cook in -o file", 2, "cannot go into one file")


def test_unchanged_inputs_are_skipped_and_changed_ones_replaced(ctx):
    library(ctx)
    assert ctx.pelt("cook in -o out").rc == 0
    before = tree(ctx.tmp / "out")
    stamps = {n: os.stat(ctx.tmp / "out" / n).st_mtime_ns for n in before}
    again = ctx.json("cook in -o out --json")
    assert (again["cooked"], again["unchanged"]) == (0, 5)
    assert stamps == {n: os.stat(ctx.tmp / "out" / n).st_mtime_ns for n in before}
    ctx.gltf("in/a.gltf", weights=[[0.9, 0.1, 0, 0]] * 6)
    root = ctx.json("cook in -o out --json")
    assert [n for n, s in states(root).items() if s == "cooked"] == ["in/a.gltf"]
    assert {n for n, b in tree(ctx.tmp / "out").items() if b != before[n]} == {"a.pelt"}
    assert ctx.json("cook in -o out --json --weights plain")["cooked"] == 5
    assert ctx.json("cook in -o out --json --weights plain")["unchanged"] == 5
    assert ctx.json("cook in -o out --json --weights plain --force")["cooked"] == 5
    # One that was cut off by a full disk, say, is cooked again.
    (ctx.tmp / "out/z.pelt").write_bytes((ctx.tmp / "out/z.pelt").read_bytes()[:100])
    assert states(ctx.json("cook in -o out --json --weights plain"))["in/z.gltf"] == "cooked"


def test_a_bad_file_is_told_and_skipped(ctx):
    library(ctx)
    (ctx.tmp / "in/b/bad.glb").write_bytes(b"glTF\2\0\0\0\xff")
    (ctx.tmp / "in/gone.glb").symlink_to("nowhere.glb")
    result = ctx.pelt("cook in -o out --threads 1")
    assert result.rc == 1 and result.err.startswith("pelt: in/b/bad.glb: ") and result.err.count("pelt: ") == 2
    assert "pelt: in/gone.glb: " in result.err and "gone.glb: failed" in result.out
    assert "b/bad.glb: failed" in result.out and "5 cooked" in result.out and "2 failed" in result.out
    assert len(tree(ctx.tmp / "out")) == 5
    root = ctx.json("cook in missing.glb -o out --json", rc=1)
    assert (root["failed"], root["unchanged"]) == (3, 5)
    failed = {f["file"]: f["failure"] for f in root["files"] if f["status"] == "failed"}
    assert failed["in/b/bad.glb"]["code"] == 4 and failed["missing.glb"]["code"] == 3


def test_what_is_not_cooked_is_not_replaced(ctx):
    library(ctx)
    (ctx.tmp / "out").mkdir()
    (ctx.tmp / "out/a.pelt").write_text("my notes")
    result = ctx.pelt("cook in -o out")
    assert result.rc == 1 and "out/a.pelt: the file exists already and is not cooked" in result.err
    assert (ctx.tmp / "out/a.pelt").read_text() == "my notes"
    assert ctx.pelt("cook in -o out --force").rc == 0
    assert (ctx.tmp / "out/a.pelt").read_bytes()[:5] == b"\x89PELT"


def test_max_error_counts_for_unchanged_files_too(ctx):
    library(ctx)
    assert ctx.pelt("cook in -o out --max-error 1").rc == 0
    root = ctx.json("cook in -o out --max-error 0 --json", rc=1)
    assert root["unchanged"] == 5 and root["over"] == sum(f["error"]["position"] > 0 for f in root["files"]) > 0
    assert "over --max-error" in ctx.pelt("cook in -o out --max-error 0").out


def test_names_that_differ_in_their_ending_only_keep_it(ctx):
    library(ctx, names=["x.gltf", "y.gltf"])
    shutil.copy(ctx.tmp / "in/y.gltf", ctx.tmp / "in/x.vrm")
    assert ctx.pelt("cook in -o out").rc == 0
    assert sorted(tree(ctx.tmp / "out")) == ["x.gltf.pelt", "x.vrm.pelt", "y.pelt"]
    library(ctx, "other", ["x.gltf"])
    ctx.fails("cook in/x.gltf other/x.gltf -o out2", 2, "two inputs have this output", "in/x.gltf", "other/x.gltf")
    assert not (ctx.tmp / "out2").exists()


def test_links_to_folders_are_not_followed(ctx):
    library(ctx)
    (ctx.tmp / "in/loop").symlink_to(".")
    (ctx.tmp / "in/linked.gltf").symlink_to("a.gltf")
    assert ctx.json("cook in -o out --json")["found"] == 6
    (ctx.tmp / "door").symlink_to("in")
    assert ctx.json("cook door -o out2 --json")["found"] == 6


def test_nothing_that_is_named_like_a_model_is_left_out_in_silence(ctx):
    library(ctx, names=["a.gltf"])
    (ctx.tmp / "in/round.glb").symlink_to("round.glb")
    os.mkfifo(ctx.tmp / "in/pipe.vrm")
    (ctx.tmp / "in/folder.glb").mkdir()
    (ctx.tmp / "in/door.glb").symlink_to("folder.glb")
    os.mkfifo(ctx.tmp / "in/other")
    root = ctx.json("cook in -o out --json", rc=1)
    failed = {f["file"]: f["failure"]["code"] for f in root["files"] if f["status"] == "failed"}
    assert failed == {"in/round.glb": 3, "in/pipe.vrm": 3} and root["found"] == 3
    assert sorted(tree(ctx.tmp / "out")) == ["a.pelt"]


def test_an_empty_folder_is_told(ctx):
    (ctx.tmp / "in").mkdir()
    ctx.fails("cook in -o out", 3, "there is no .glb, .gltf or .vrm file")


def test_a_folder_that_cannot_be_read_fails_the_run(ctx):
    library(ctx)
    os.chmod(ctx.tmp / "in/b/deep", 0)
    try:
        if os.access(ctx.tmp / "in/b/deep", os.R_OK):
            ctx.skip("this user may read everything")
        result = ctx.pelt("cook in -o out")
        assert result.rc == 1 and "the folder cannot be read" in result.err and "4 cooked" in result.out
    finally:
        os.chmod(ctx.tmp / "in/b/deep", 0o755)


def test_a_folder_that_cannot_be_searched_fails_the_run(ctx):
    library(ctx)
    (ctx.tmp / "in/b/deep/more").mkdir()
    os.chmod(ctx.tmp / "in/b/deep", 0o444)  # names can be listed, and nothing behind them seen
    try:
        if os.access(ctx.tmp / "in/b/deep", os.X_OK):
            ctx.skip("this user may search everything")
        result = ctx.pelt("cook in -o out")
        assert result.rc == 1 and "4 cooked" in result.out and "2 failed" in result.out
        assert "in/b/deep/e.gltf: " in result.err and "in/b/deep/more: " in result.err
    finally:
        os.chmod(ctx.tmp / "in/b/deep", 0o755)


def test_outputs_may_stand_beside_inputs(ctx):
    library(ctx)
    assert ctx.json("cook in -o in --json")["cooked"] == 5
    assert ctx.json("cook in -o in --json")["unchanged"] == 5


def test_bytes_do_not_depend_on_threads(ctx):
    library(ctx)
    for threads in ("1", "3"):
        assert ctx.pelt(["cook", "in", "-o", "out" + threads, "--threads", threads]).rc == 0
    assert tree(ctx.tmp / "out1") == tree(ctx.tmp / "out3")


def test_shards_are_disjoint_and_cover_all(ctx):
    names = ["m%02d.gltf" % i for i in range(24)]
    library(ctx, names=names)
    assert ctx.pelt("cook in -o whole").rc == 0
    seen = []
    for i in range(1, 5):
        root = ctx.json(["cook", "in", "-o", "parts", "--shard", "%d/4" % i, "--json"])
        assert root["shard"] == [i, 4] and root["found"] == 24 and root["failed"] == 0
        seen += list(states(root))
    assert sorted(seen) == ["in/" + n for n in names] and len(seen) == 24
    assert tree(ctx.tmp / "parts") == tree(ctx.tmp / "whole")
    # A file stays in its shard whatever else is there.
    mine = list(states(ctx.json("cook in -o parts --shard 2/4 --json")))
    for name in names[::2]:
        (ctx.tmp / "in" / name).unlink()
    left = list(states(ctx.json("cook in -o parts --shard 2/4 --json")))
    assert left == [n for n in mine if int(n[4:6]) % 2]
    text = ctx.pelt("cook in -o parts --shard 2/4")
    assert "shard 2 of 4: %d of 12 files" % len(left) in text.out


def test_gnu_parallel_over_shards_gives_the_bytes_of_one_run(ctx):
    tool = shutil.which("parallel")
    if not tool:
        ctx.skip("parallel is not here")
    library(ctx, names=["set%d/m%d.gltf" % (i % 3, i) for i in range(12)])
    assert ctx.pelt("cook in -o whole").rc == 0
    run = subprocess.run([tool, "--will-cite", "-j", "3", ctx.binary, "cook", "in", "-o", "parts", "--shard", "{}/5",
                          "--threads", "1", ":::"] + [str(i) for i in range(1, 6)], cwd=ctx.tmp, capture_output=True,
                         text=True, env=ctx.environment(), timeout=120)
    assert run.returncode == 0, run.stderr
    assert tree(ctx.tmp / "parts") == tree(ctx.tmp / "whole") and len(tree(ctx.tmp / "whole")) == 12


def test_runs_at_the_same_time_may_share_a_folder(ctx):
    library(ctx, names=["set%d/m%d.gltf" % (i % 7, i) for i in range(210)])
    assert ctx.pelt("cook in -o whole").rc == 0
    words = [ctx.binary, "cook", "in", "-o", "shared", "--threads", "2"]
    runs = [subprocess.Popen(words, cwd=ctx.tmp, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    ends = [(run.communicate()[1], run.returncode) for run in runs]
    assert ends == [(b"", 0)] * len(runs), ends
    assert tree(ctx.tmp / "shared") == tree(ctx.tmp / "whole")


def test_a_signal_leaves_no_temporary_file_of_any_worker(ctx):
    library(ctx, names=["set%d/m%d.gltf" % (i % 7, i) for i in range(210)])
    cut = 0
    for i in range(24):
        number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3]
        run = subprocess.Popen([ctx.binary, "cook", "in", "-o", "out", "--force", "--threads", "6"], cwd=ctx.tmp,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.004 * (1 + i % 8))
        run.send_signal(number)
        code = run.wait(timeout=60)
        assert code in (0, -number), code
        cut += code != 0
        assert [n for n in tree(ctx.tmp / "out") if not n.endswith(".pelt")] == []
    if cut == 0:
        ctx.skip("every run ended before its signal")
    assert ctx.pelt("cook in -o whole").rc == 0 and ctx.pelt("cook in -o out").rc == 0
    assert tree(ctx.tmp / "out") == tree(ctx.tmp / "whole")


def test_thread_workers_keep_messages_whole(ctx):
    library(ctx, names=["n%02d.gltf" % i for i in range(16)])
    for i in range(16):
        (ctx.tmp / "in" / ("bad%02d.glb" % i)).write_bytes(b"glTF\2\0\0\0\xff")
    result = ctx.pelt("cook in -o out --threads 8")
    lines = result.err.splitlines()
    assert result.rc == 1 and len([x for x in lines if x.startswith("pelt: in/bad")]) == 16
    assert all(x.startswith(("pelt: in/bad", "  ")) for x in lines), lines
    assert result.out.splitlines()[-1].startswith("16 cooked")
