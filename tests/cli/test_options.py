# SPDX-License-Identifier: MIT
"""The command line: help, version, man page, and what is refused."""
import re
import shutil
import subprocess

VERBS = ("inspect", "pose", "bounds", "cook", "verify", "bench", "devices", "gen")


def test_help_goes_to_stdout_and_is_golden(ctx):
    result = ctx.pelt("--help")
    assert result.rc == 0 and result.err == ""
    ctx.golden("help.txt", result.out)
    for words in ("-h", "help", "help help", "help --help"):
        assert ctx.pelt(words) == result, words


def test_help_of_each_verb_is_golden(ctx):
    for verb in VERBS:
        result = ctx.pelt([verb, "--help"])
        assert result.rc == 0 and result.err == ""
        ctx.golden("help_%s.txt" % verb, result.out)
        assert ctx.pelt(["help", verb]) == result
        assert ctx.pelt([verb, "-h"]) == result
        assert ctx.pelt(["--help", verb]) == result
        assert max(map(len, result.out.splitlines())) <= 80


def test_help_of_a_verb_lists_just_its_options(ctx):
    overview = ctx.pelt("--help").out
    for verb in VERBS:
        own = set(re.findall(r"^ {2}(?:-\w, | {4})--([a-z0-9-]+)", ctx.pelt([verb, "--help"]).out, re.M))
        for name, takers in re.findall(r"^ {2}(?:-\w, | {4})--([a-z0-9-]+)(?: [A-Z=:/]+)? +((?:\w+, )*\w+)$", overview, re.M):
            if set(takers.split(", ")) <= set(VERBS):
                assert (verb in takers.split(", ")) == (name in own), (verb, name)


def test_version(ctx):
    result = ctx.pelt("--version")
    assert result.rc == 0 and re.fullmatch(r"pelt \d+\.\d+\.\d+\n", result.out)
    assert ctx.pelt("inspect --version") == result


def test_no_arguments_print_help_on_stderr(ctx):
    result = ctx.pelt([])
    assert result.rc == 2 and result.out == "" and result.err == ctx.pelt("--help").out


def test_man_page_names_every_option_and_is_clean_roff(ctx):
    page = ctx.pelt("--man").out
    assert page.startswith('.\\"') and ".TH PELT 1" in page
    for verb in VERBS:
        for name in re.findall(r"--[a-z0-9-]+", ctx.pelt([verb, "--help"]).out):
            assert name.replace("-", "\\-") in page, name
    if not shutil.which("man"):
        ctx.skip("man is not here")
    (ctx.tmp / "pelt.1").write_text(page)
    shown = subprocess.run(["man", "--warnings", "-l", "pelt.1"], cwd=ctx.tmp, capture_output=True, text=True,
                           env=ctx.environment(MANPAGER="cat", LC_ALL="C.UTF-8"))
    assert shown.returncode == 0 and shown.stderr == "", shown.stderr
    assert "--max-json-depth N" in shown.stdout and "EXIT STATUS" in shown.stdout


def test_unknown_words_get_a_suggestion(ctx):
    ctx.fails("insepct f.glb", 2, 'unknown verb "insepct"', "did you mean inspect?")
    ctx.fails("xyzzy f.glb", 2, 'unknown verb "xyzzy"', "pelt --help")
    ctx.fails("help bound", 2, "did you mean bounds?")
    ctx.fails("pose f.glb --clp x -o a.glb", 2, "unknown option --clp", "did you mean --clip?")
    ctx.fails("inspect f.glb --max-v=3", 2, "unknown option --max-v\n", "did you mean --max-vertices?")
    ctx.fails("inspect f.glb --qqqqqq", 2, "unknown option --qqqqqq", "pelt inspect --help")
    ctx.fails("inspect f.glb -z", 2, "unknown option -z")
    ctx.fails("inspect --" + "x" * 5000, 2, "unknown option --xxx")
    ctx.fails("--json inspect f.glb", 2, "the verb comes first")


def test_an_option_of_other_verbs_says_whose_it_is(ctx):
    ctx.fails("inspect f.glb --clip x", 2, "inspect takes no option --clip", "it belongs to pose, bounds")
    ctx.fails("pose f.glb -o a.glb --tree", 2, "pose takes no option --tree", "it belongs to inspect")
    ctx.fails("bounds f.glb -o a.glb", 2, "bounds takes no option --output", "it belongs to pose, cook, gen")


def test_missing_and_superfluous_values(ctx):
    ctx.fails("pose f.glb -o", 2, "--output needs a value")
    ctx.fails("pose f.glb -o a.glb --clip", 2, "--clip needs a value")
    ctx.fails("pose f.glb -o a.glb --clip --json", 2, "--clip needs a value", "--clip=CLIP")
    ctx.fails("pose f.glb -o a.glb --clip=", 2, "--clip is empty")
    ctx.fails("inspect f.glb --json=yes", 2, "--json takes no value")


def test_missing_and_superfluous_operands(ctx):
    ctx.fails("inspect", 2, "inspect needs a FILE", "for example: pelt inspect")
    ctx.fails("gen -o a.glb", 2, "gen needs a KIND")
    ctx.fails("pose f.glb", 2, "pose needs --output")
    ctx.fails("gen octopus", 2, "gen needs --output")
    ctx.fails("inspect a.glb b.glb", 2, 'one FILE too many: "b.glb"')
    ctx.fails(["inspect", ""], 2, "empty")
    ctx.fails("inspect -", 2, "standard input")
    ctx.fails("pose a.glb -o -", 2, "standard output")


def test_numbers_out_of_range(ctx):
    for words, part in (
        ("pose f.glb -o a.glb --threads 1025", "--threads takes a whole number from 0 to 1,024"),
        ("pose f.glb -o a.glb --threads -1", '"-1"'),
        ("pose f.glb -o a.glb --threads 2.5", '"2.5"'),
        ("pose f.glb -o a.glb --threads 1K", '"1K"'),
        ("inspect f.glb --max-vertices 0", "from 1 to"),
        ("inspect f.glb --max-vertices 5G", "from 1 to 4,294,967,295"),
        ("inspect f.glb --max-vertices 99999999999999999999999", "--max-vertices"),
        ("inspect f.glb --max-memory 16777216T", "--max-memory"),
        ("inspect f.glb --max-memory 99999999999G", "--max-memory"),
        ("inspect f.glb --max-file-size 1KB", "K, M and G"),
        ("inspect f.glb --max-file-size K", "--max-file-size"),
        ("inspect f.glb --max-joints 65537", "65,536"),
        ("inspect f.glb --max-json-depth 2048", "2,047"),
        ("inspect f.glb --max-influences 0", "--max-influences"),
        ("bounds f.glb --fps 0", "--fps takes a number"),
        ("bounds f.glb --fps nan", "--fps takes a number"),
        ("bounds f.glb --fps 0x10", "--fps takes a number"),
        ("gen octopus -o a.glb --seed 4294967296", "4,294,967,295"),
        ("gen octopus -o a.glb --vertices many", '"many"'),
        ("pose f.glb -o a.glb --space local", "world|mesh"),
        (["pose", "f.glb", "-o", "a.glb", "--device", ""], "--device is empty"),
        ("devices f.glb", "options only"),
        ("devices --clip all", "takes no option --clip"),
        ("pose f.glb -o a.glb --morph smile", "NAME=V"),
        ("pose f.glb -o a.glb --morph =1", "NAME=V"),
        ("pose f.glb -o a.glb --morph smile=", "NAME=V"),
        ("pose f.glb -o a.glb --morph smile=inf", "NAME=V"),
        ("pose f.glb -o a.glb --morph smile=1e60", "NAME=V"),
    ):
        ctx.fails(words, 2, part)


def test_forms_of_options(ctx):
    ctx.gltf()
    plain = ctx.json("bounds bar.gltf --json --clip bend --time 0.5")
    for words in ("bounds --json --clip=bend --time=0.5 bar.gltf", "bounds --clip x --json --clip bend bar.gltf --time 9 --time 50%",
                  "bounds --json --clip #0 --time 0.5 -- bar.gltf"):
        assert ctx.json(words) == plain, words
    assert ctx.pelt("pose bar.gltf -oa.npz").rc == 0
    assert ctx.pelt("pose bar.gltf --output=b.npz").rc == 0
    assert (ctx.tmp / "a.npz").read_bytes() == (ctx.tmp / "b.npz").read_bytes()
    ctx.gltf("-odd.gltf")
    assert ctx.pelt("inspect -- -odd.gltf").rc == 0
    assert ctx.pelt("inspect bar.gltf --max-memory 1g --max-file-size 100K --max-joints 64K").rc == 0


def test_morph_name_may_hold_an_equals_sign(ctx):
    def rename(document):
        document["meshes"][0]["extras"]["targetNames"] = ["a=b"]
    ctx.gltf(edit=rename)
    box = lambda *words: ctx.json(["pose", "bar.gltf", "-o", "a.npz", "--force", "--json", *words])["box"]
    assert box("--morph", "a=b=2") == box("--morph=#0=2") != box()
    assert box("--morph", "a=b=5", "--morph", "a=b=2") == box("--morph", "a=b=2")
    ctx.fails("bounds bar.gltf --morph a=2", 2, "a")


def test_time_without_a_clip_says_why(ctx):
    ctx.gltf()
    ctx.fails("pose bar.gltf --time 1 -o a.npz", 2, "--time needs --clip", "rest pose")
    assert ctx.files() == ["bar.gltf"]


def test_usage_error_with_json_is_json_wherever_the_option_stands(ctx):
    for words in ("inspect --bogus f.glb --json", "inspect --json --bogus", "bogus f.glb --json"):
        error = ctx.json(words, rc=2)
        assert error["schema"] == "pelt/error/1" and error["code"] == 2 and error["name"] == "USAGE"
        assert "bogus" in error["message"] and error["file"] is None
