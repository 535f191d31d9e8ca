# SPDX-License-Identifier: MIT
"""Every exit code, and the form of messages."""
import json
import os
import pty
import signal
import subprocess


def leaves(document):
    """Makes the rest pose reach past the box that the file declares."""
    document["nodes"][0]["translation"] = [10, 0, 0]


def broken(document):
    document["skins"][0]["joints"] = [0, 99]


def test_exit_0_done(ctx):
    ctx.gltf()
    assert ctx.pelt("inspect bar.gltf").rc == 0
    assert ctx.pelt("bounds bar.gltf --fail-outside").rc == 0


def twice(document):
    """The same mesh once more: 6 vertices in the file, 12 to pose."""
    document["nodes"].append(dict(document["nodes"][2]))
    document["scenes"][0]["nodes"].append(len(document["nodes"]) - 1)


def test_vertex_limit_holds_for_all_that_is_posed(ctx):
    ctx.gltf(edit=twice)
    assert ctx.pelt("bounds bar.gltf --max-vertices 12").rc == 0
    ctx.fails("bounds bar.gltf --max-vertices 11", 7, "--max-vertices")
    ctx.fails("pose bar.gltf --max-vertices 11 -o o.npz", 7, "--max-vertices")
    assert not (ctx.tmp / "o.npz").exists()


def test_exit_1_verdict_negative(ctx):
    ctx.gltf(edit=leaves)
    result = ctx.pelt("bounds bar.gltf --fail-outside")
    assert result.rc == 1 and "pelt:" not in result.err and result.out
    assert ctx.pelt("bounds bar.gltf").rc == 0


def test_exit_2_usage(ctx):
    ctx.fails("inspect", 2)


def test_exit_3_cannot_read(ctx):
    ctx.fails("inspect missing.glb", 3, "pelt: missing.glb: ")
    (ctx.tmp / "folder.glb").mkdir()
    ctx.fails("inspect folder.glb", 3, "pelt: folder.glb: ")


def test_exit_3_cannot_write_to_stdout(ctx):
    ctx.gltf()
    for words in ("inspect bar.gltf", "inspect bar.gltf --json", "--help", "pose --help", "--man", "--version",
                  "bounds bar.gltf", "bounds bar.gltf --json", "pose bar.gltf -o a.npz --force",
                  "pose bar.gltf -o a.npz --force --json"):
        with open("/dev/full", "wb") as full:
            result = ctx.pelt(words, stdout=full)
        assert result.rc == 3, (words, result)
        assert result.err.count("pelt: ") == 1 and "standard output" in result.err and "No space" in result.err, words


def test_exit_3_closed_pipe_and_closed_stdout(ctx):
    ctx.gltf()
    for words in (["inspect", "bar.gltf"], ["inspect", "bar.gltf", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        result = ctx.pelt(words, stdout=writing)
        os.close(writing)
        assert result.rc == 3 and "Broken pipe" in result.err, result
        result = ctx.pelt(words, preexec_fn=lambda: os.close(1))
        assert result.rc == 3 and "standard output" in result.err, result


def test_closed_stdout_does_not_end_up_in_the_output_file(ctx):
    ctx.gltf()
    assert ctx.pelt("pose bar.gltf -o a.npz").rc == 0
    assert ctx.pelt("pose bar.gltf -o b.npz", preexec_fn=lambda: os.close(1)).rc == 3
    assert (ctx.tmp / "a.npz").read_bytes() == (ctx.tmp / "b.npz").read_bytes()


def test_exit_4_invalid(ctx):
    ctx.gltf(edit=broken)
    result = ctx.fails("inspect bar.gltf", 4, "pelt: bar.gltf: /skins/0/joints", "99")
    first, second = result.err.splitlines()
    assert second.startswith("  ") and second.strip() and not first.endswith(".")
    assert result.out == ""


def test_exit_5_unsupported(ctx):
    ctx.gltf(extensionsUsed=["KHR_draco_mesh_compression"], extensionsRequired=["KHR_draco_mesh_compression"])
    ctx.fails("inspect bar.gltf", 5, "KHR_draco_mesh_compression")


def test_exit_6_no_device(ctx):
    ctx.gltf()
    for device in ("9999", "99999999999999999999", "no such device", "-1"):
        ctx.fails(["bounds", "bar.gltf", "--device=" + device], 6, 'there is no device "%s"' % device)
        ctx.fails(["pose", "bar.gltf", "-o", "a.glb", "--device=" + device], 6, 'there is no device "%s"' % device)
    assert ctx.files() == ["bar.gltf"]
    assert ctx.pelt("bounds bar.gltf --device cpu").rc == 0


def test_exit_7_over_a_limit_names_the_option(ctx):
    ctx.gltf()
    for option in ("--max-vertices", "--max-joints", "--max-json-depth", "--max-file-size", "--max-memory"):
        ctx.fails(["inspect", "bar.gltf", option, "1"], 7, option)


def test_errors_are_json_too(ctx):
    ctx.gltf(edit=broken)
    error = ctx.json("inspect bar.gltf --json", rc=4)
    assert sorted(error) == ["code", "file", "hint", "message", "name", "schema", "where"]
    assert error["schema"] == "pelt/error/1" and error["code"] == 4 and error["name"] == "INVALID"
    assert error["file"] == "bar.gltf" and error["where"].startswith("/skins/0/joints")
    assert error["hint"] and "99" in error["message"]
    assert "pelt: bar.gltf: /skins/0/joints" in ctx.pelt("inspect bar.gltf --json").err


WEAK = [[0.5, 0, 0, 0]] + [[1, 0, 0, 0]] * 5


def test_warnings_have_a_form_and_quiet_hides_them(ctx):
    ctx.gltf(weights=WEAK)
    result = ctx.pelt("inspect bar.gltf")
    assert result.rc == 0 and result.err.startswith("pelt: bar.gltf: /meshes/0/"), result.err
    assert ": warning: " in result.err
    assert ctx.pelt("inspect bar.gltf --quiet").err == ""
    for words in ("inspect bar.gltf --json", "inspect bar.gltf --json --quiet"):
        warnings = ctx.json(words)["warnings"]
        assert len(warnings) == 1 and warnings[0]["where"].startswith("/meshes/0/") and warnings[0]["message"]


def test_quiet_does_not_hide_errors(ctx):
    ctx.fails("inspect missing.glb --quiet", 3, "missing.glb")


def on_terminal(ctx, words, **env):
    """What a terminal on standard error sees."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([ctx.binary] + words, cwd=ctx.tmp, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=theirs, env=ctx.environment(**env))
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(ours)
    process.wait()
    return seen.decode("utf-8", "surrogateescape")


def test_colour_only_on_a_terminal_that_wants_it(ctx):
    ctx.gltf(weights=WEAK)
    error = on_terminal(ctx, ["inspect", "missing.glb"], TERM="xterm")
    assert error.startswith("\x1b[1;31mpelt:\x1b[0m missing.glb: ")
    warning = on_terminal(ctx, ["inspect", "bar.gltf"], TERM="xterm")
    assert "\x1b[1;33mwarning:\x1b[0m " in warning
    for env in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
        assert "\x1b" not in on_terminal(ctx, ["inspect", "missing.glb"], **env)
    assert "\x1b[1;31m" in on_terminal(ctx, ["inspect", "missing.glb"], TERM="xterm", NO_COLOR="")
    assert "\x1b" not in ctx.pelt("inspect missing.glb", env={"TERM": "xterm"}).err


def test_progress_shows_on_a_terminal_and_is_cleared(ctx):
    assert ctx.pelt("gen octopus -o o.glb --vertices 20000").rc == 0
    words = ["bounds", "o.glb", "--clip", "all", "--fps", "3000", "--threads", "1"]
    seen = on_terminal(ctx, words, TERM="xterm")
    if "%" not in seen:
        ctx.skip("the work took less than half a second")
    assert seen.endswith("\r\x1b[K") and "\n" not in seen
    assert on_terminal(ctx, words[:-4] + ["--fps", "1000", "--quiet"], TERM="xterm") == ""


def test_strings_of_the_file_cannot_drive_a_terminal(ctx):
    evil = "a\x1b[2Jb\x07\x9bc\u202ed\ne\x7f"
    ctx.gltf(animations=None, edit=lambda d: d["nodes"][2].update(name=evil))
    for words in ("inspect bar.gltf", "inspect bar.gltf --tree", "bounds bar.gltf", "pose bar.gltf -o a.npz"):
        result = ctx.pelt(words)
        assert result.rc == 0
        text = result.out + result.err
        assert not any(c in text for c in "\x1b\x07\x9b\u202e\x7f"), words
    assert "a\\x1b[2Jb\\x07\\u009bc\\u202ed\\ne\\x7f" in ctx.pelt("inspect bar.gltf --tree").out
    assert ctx.json("inspect bar.gltf --json")["instances"][0]["name"] == evil


def test_file_names_that_are_no_text(ctx):
    ctx.fails([b"inspect", b"no\xffsuch\x1b[0m.glb"], 3, "pelt: no\\xffsuch\\x1b[0m.glb: ")
    error = ctx.json([b"inspect", b"no\xffsuch.glb", b"--json"], rc=3)
    assert error["file"] == "no\ufffdsuch.glb"
    source = ctx.gltf()
    os.rename(bytes(source), bytes(ctx.tmp) + b"/b\xe9.gltf")
    assert "b\\xe9.gltf" in ctx.pelt([b"inspect", b"b\xe9.gltf"]).out
    assert ctx.json([b"inspect", b"b\xe9.gltf", b"--json"])["file"] == "b\ufffd.gltf"
    assert ctx.pelt([b"pose", b"b\xe9.gltf", b"-o", b"\xe8.npz", b"--json"]).rc == 0


def test_names_in_messages_are_cut_on_a_border(ctx):
    result = ctx.fails(["inspect", "--" + "\u00e9" * 3000], 2, "unknown option --")
    assert "\\x" not in result.err


def test_signals_end_the_program_by_themselves(ctx):
    process = subprocess.Popen([ctx.binary, "gen", "crowd", "-o", "a.glb", "--vertices", "100000", "--count", "3000"],
                               cwd=ctx.tmp, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM


def test_json_schemas(ctx):
    ctx.gltf()
    for words, schema in (("inspect bar.gltf --json", "pelt/inspect/1"), ("bounds bar.gltf --json", "pelt/bounds/1"),
                          ("pose bar.gltf -o a.npz --json", "pelt/pose/1"), ("gen worm -o w.glb --json", "pelt/gen/1")):
        result = ctx.pelt(words)
        value = json.loads(result.out)
        assert value["schema"] == schema and isinstance(value["warnings"], list), words
