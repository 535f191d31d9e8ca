# SPDX-License-Identifier: MIT
"""Output files: whole or not at all, nothing lost, nothing left over."""
import json
import os
import resource
import signal
import stat
import subprocess
import time
import urllib.parse


def test_no_overwrite_without_force(ctx):
    ctx.gltf()
    (ctx.tmp / "a.npz").write_text("mine")
    ctx.fails("pose bar.gltf -o a.npz", 3, "pelt: a.npz: the file exists already", "--force")
    assert (ctx.tmp / "a.npz").read_text() == "mine"
    assert ctx.files() == ["a.npz", "bar.gltf"]
    assert ctx.pelt("pose bar.gltf -o a.npz --force").rc == 0
    assert (ctx.tmp / "a.npz").read_bytes()[:2] == b"PK"
    assert ctx.files() == ["a.npz", "bar.gltf"]


def test_a_link_counts_as_a_file(ctx):
    ctx.gltf()
    os.symlink("nowhere", ctx.tmp / "a.npz")
    ctx.fails("pose bar.gltf -o a.npz", 3, "exists already")
    (ctx.tmp / "real.npz").write_text("mine")
    os.symlink("real.npz", ctx.tmp / "b.npz")
    ctx.fails("pose bar.gltf -o b.npz", 3, "exists already")
    assert ctx.pelt("pose bar.gltf -o b.npz --force").rc == 0
    assert os.path.islink(ctx.tmp / "b.npz") and (ctx.tmp / "real.npz").read_bytes()[:2] == b"PK"


def test_folders_and_missing_folders(ctx):
    ctx.gltf()
    (ctx.tmp / "folder.npz").mkdir()
    for force in ([], ["--force"]):
        ctx.fails(["pose", "bar.gltf", "-o", "folder.npz"] + force, 3, "this is a folder")
        ctx.fails(["pose", "bar.gltf", "-o", "none/a.npz"] + force, 3, "none/a.npz", "No such file", "make the folder")
    ctx.fails("pose bar.gltf -o bar.gltf/a.npz", 3, "Not a directory")
    assert ctx.files() == ["bar.gltf", "folder.npz"]


def test_devices_and_pipes_are_not_replaced(ctx):
    ctx.gltf()
    os.mkfifo(ctx.tmp / "pipe.npz")
    os.symlink("/dev/null", ctx.tmp / "null.npz")
    for name in ("pipe.npz", "null.npz"):
        for force in ([], ["--force"]):
            ctx.fails(["pose", "bar.gltf", "-o", name] + force, 3, "device, a pipe or a socket")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert stat.S_ISFIFO(os.stat(ctx.tmp / "pipe.npz").st_mode)


def test_mode_follows_the_umask(ctx):
    ctx.gltf()
    for mask in (0o022, 0o077, 0o002):
        words = "pose bar.gltf --force -o a.npz"
        assert ctx.pelt(words, preexec_fn=lambda: os.umask(mask)).rc == 0
        assert stat.S_IMODE(os.stat(ctx.tmp / "a.npz").st_mode) == 0o666 & ~mask


def test_the_longest_name_and_other_folders(ctx):
    ctx.gltf()
    (ctx.tmp / "sub").mkdir()
    name = "n" * 251 + ".npz"
    assert ctx.pelt(["pose", "bar.gltf", "-o", "sub/" + name]).rc == 0
    assert os.listdir(ctx.tmp / "sub") == [name]
    ctx.fails(["pose", "bar.gltf", "-o", "sub/n" + name], 3, "too long")
    assert os.listdir(ctx.tmp / "sub") == [name]


def test_input_may_be_replaced_with_force(ctx):
    ctx.gltf()
    ctx.fails("pose bar.gltf -o bar.gltf", 3, "exists already")
    assert ctx.pelt("gen worm -o w.glb").rc == 0
    assert ctx.pelt("pose w.glb -o other.glb").rc == 0
    assert ctx.pelt("pose w.glb -o w.glb --force").rc == 0
    assert (ctx.tmp / "w.glb").read_bytes() == (ctx.tmp / "other.glb").read_bytes()


def test_a_failed_write_leaves_nothing(ctx):
    assert ctx.pelt("gen octopus -o o.glb --vertices 5000").rc == 0
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    for name in ("a.npz", "a.glb", "a.obj", "a.ply", "a.stl"):
        ctx.fails(["pose", "o.glb", "-o", name], 3, "pelt: " + name, "File too large", preexec_fn=limit)
        (ctx.tmp / "old").write_text("mine")
        os.rename(ctx.tmp / "old", ctx.tmp / name)
        ctx.fails(["pose", "o.glb", "--force", "-o", name], 3, "File too large", preexec_fn=limit)
        assert (ctx.tmp / name).read_text() == "mine"
        os.unlink(ctx.tmp / name)
        assert ctx.files() == ["o.glb"], name


def test_a_full_disk_leaves_an_older_pair_as_it_is(ctx):
    # The last bytes of the .gltf fail only when the stream is closed, while the small .bin has long been written.
    ctx.gltf("big.gltf", edit=lambda d: d["nodes"][2].update(extras="x" * 9000))
    ctx.gltf()
    assert ctx.pelt("pose big.gltf -o a.gltf").rc == 0
    size = (ctx.tmp / "a.gltf").stat().st_size
    assert ctx.pelt("pose bar.gltf --force -o a.gltf").rc == 0
    pair = [(ctx.tmp / name).read_bytes() for name in ("a.gltf", "a.bin")]
    for short in (1, 100, 4096, size // 2):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size - short, size - short))
        ctx.fails("pose big.gltf --clip bend --time 1 --force -o a.gltf", 3, "a.gltf", "File too large",
                  preexec_fn=limit)
        assert [(ctx.tmp / name).read_bytes() for name in ("a.gltf", "a.bin")] == pair, short
        ctx.fails("pose big.gltf -o b.gltf", 3, "File too large", preexec_fn=limit)
        assert ctx.files() == ["a.bin", "a.gltf", "bar.gltf", "big.gltf"]


def test_any_name_of_a_gltf_leads_to_its_buffer(ctx):
    ctx.gltf()
    for name in ("a:b", "http:b", "%41%2f", "a b?#", "-x", "..", "\u00fc\n", "c:d/e:f"):
        if "/" in name:
            (ctx.tmp / name).parent.mkdir()
        assert ctx.pelt(["pose", "bar.gltf", "-o", name + ".gltf"]).rc == 0, name
        uri = json.loads((ctx.tmp / (name + ".gltf")).read_bytes())["buffers"][0]["uri"]
        assert not urllib.parse.urlparse(uri).scheme, uri
        plain = urllib.parse.unquote(uri, errors="strict")
        assert (ctx.tmp / (name + ".gltf")).parent.joinpath(plain).read_bytes() == (
            ctx.tmp / (name + ".bin")).read_bytes()
        assert ctx.pelt(["inspect", "--", name + ".gltf"]).rc == 0, name
    ctx.fails(["pose", "bar.gltf", "-o", "a\\b.gltf"], 2, "backslash")
    assert ctx.pelt(["pose", "bar.gltf", "-o", "a\\b.glb"]).rc == 0


def test_an_invalid_input_makes_no_file(ctx):
    ctx.gltf(edit=lambda d: d["skins"][0].update(joints=[0, 7]))
    ctx.fails("pose bar.gltf -o a.npz", 4)
    assert ctx.files() == ["bar.gltf"]


def interrupt(ctx, number):
    """Stops pelt while its temporary file exists, sends the signal, and lets it go on. None if it was too quick."""
    process = subprocess.Popen([ctx.binary, "gen", "octopus", "--vertices", "1000000", "-o", "a.glb"], cwd=ctx.tmp,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not any(n.endswith(".tmp") for n in ctx.files()):
        time.sleep(0.0005)
    if process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    caught = any(n.endswith(".tmp") for n in ctx.files())
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    code = process.wait()
    return code if caught else None


def test_signals_leave_no_temporary_file(ctx):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for _ in range(20):
            code = interrupt(ctx, number)
            if code is not None:
                break
            for name in ctx.files():
                os.unlink(ctx.tmp / name)
        else:
            ctx.skip("the file was written too quickly to be interrupted")
        assert code == -number, code
        assert ctx.files() == [], ctx.files()


def test_an_ignored_signal_stays_ignored(ctx):
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    process = subprocess.Popen([ctx.binary, "gen", "octopus", "--vertices", "300000", "-o", "a.glb"], cwd=ctx.tmp,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=ignore)
    time.sleep(0.02)
    process.send_signal(signal.SIGHUP)
    assert process.wait() == 0 and ctx.files() == ["a.glb"]


def test_of_two_writers_one_wins_and_one_is_told(ctx):
    words = [ctx.binary, "gen", "octopus", "--vertices", "100000", "-o", "a.glb"]
    processes = [subprocess.Popen(words, cwd=ctx.tmp, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    errors = [(p.communicate()[1], p.returncode) for p in processes]
    assert sorted(code for _, code in errors) == [0, 3, 3, 3], errors
    assert all(b"exists already" in text for text, code in errors if code)
    assert ctx.files() == ["a.glb"]
