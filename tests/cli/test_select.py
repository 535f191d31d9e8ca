# SPDX-License-Identifier: MIT
"""Selectors of clips and times."""


def named(*names):
    """Turns the bar's clips into copies of its first with these names."""
    def edit(document):
        first = document["animations"][0]
        document["animations"] = [dict(first, name=name) for name in names]
    return edit


def clip_of(ctx, selector, **keywords):
    return ctx.json(["pose", "bar.gltf", "-o", "a.npz", "--force", "--json", "--clip", selector], **keywords)["clip"]


def test_clip_by_name_and_by_index(ctx):
    ctx.gltf()
    assert clip_of(ctx, "bend") == 0 and clip_of(ctx, "slide") == 1
    assert clip_of(ctx, "#0") == 0 and clip_of(ctx, "#1") == 1


def test_an_unknown_clip_lists_what_there_is(ctx):
    ctx.gltf()
    ctx.fails("pose bar.gltf -o a.npz --clip run", 2, 'no clip "run"', '#0 "bend", #1 "slide"')
    ctx.fails("pose bar.gltf -o a.npz --clip Bend", 2, 'no clip "Bend"')
    ctx.fails("bounds bar.gltf --clip #2", 2, "no clip #2", "2 clips")
    ctx.fails("bounds bar.gltf --clip #99999999999999999999", 2, "2 clips")
    ctx.fails("bounds bar.gltf --clip #", 2, 'no clip "#"')
    ctx.fails("bounds bar.gltf --clip #-1", 2, 'no clip "#-1"')
    assert ctx.files() == ["bar.gltf"]


def test_a_long_list_is_cut(ctx):
    ctx.gltf(edit=named(*["clip%d" % i for i in range(25)]))
    result = ctx.fails("bounds bar.gltf --clip none", 2, '#9 "clip9" and 15 more')
    assert "clip10" not in result.err
    ctx.gltf(edit=named(*["n" * 3000] * 40))
    ctx.fails("bounds bar.gltf --clip none", 2, "more")


def test_a_file_without_clips(ctx):
    ctx.gltf(animations=None)
    ctx.fails("bounds bar.gltf --clip run", 2, "no clips")


def test_a_name_that_repeats_lists_the_candidates(ctx):
    ctx.gltf(edit=named("run", "walk", "run"))
    ctx.fails("bounds bar.gltf --clip run", 2, '2 clips are named "run"', '#0 "run", #2 "run"')
    assert clip_of(ctx, "#2") == 2 and clip_of(ctx, "walk") == 1


def test_an_index_wins_over_a_name_that_looks_like_one(ctx):
    ctx.gltf(edit=named("#1", "run", "#9", "#x"))
    assert clip_of(ctx, "#1") == 1
    assert clip_of(ctx, "#0") == 0
    assert clip_of(ctx, "#9") == 2
    assert clip_of(ctx, "#x") == 3


def time_of(ctx, text, clip="slide"):
    return ctx.json(["pose", "bar.gltf", "-o", "a.npz", "--force", "--json", "--clip", clip, "--time", text])["time"]


def test_times_in_seconds_and_percent(ctx):
    ctx.gltf()
    for text, seconds in (("0", 0), ("1.25", 1.25), (".5", 0.5), ("1e-1", 0.1), ("+1", 1), ("50%", 1), ("0%", 0),
                          ("100%", 2), ("12.5%", 0.25), ("-3", -3), ("1000", 1000)):
        assert time_of(ctx, text) == seconds, text


def test_times_outside_the_clip_hold_its_ends(ctx):
    ctx.gltf()
    words = ["pose", "bar.gltf", "-o", "a.npz", "--force", "--json", "--clip", "bend"]
    at = lambda text: ctx.json(words + ["--time=" + text])["box"]
    assert at("-5") == at("0") and at("100") == at("1") and at("0") != at("1")


def test_times_that_are_none(ctx):
    ctx.gltf()
    for text in ("nan", "inf", "-inf", "0x10", "1e999", "1s", "", " 1", "1 ", "%", "1%%", "1.2.3", "--", "x" * 100, "1" * 400):
        result = ctx.pelt(["pose", "bar.gltf", "-o", "a.npz", "--clip", "bend", "--time=" + text])
        assert result.rc == 2 and "--time" in result.err, (text, result)
    for text in ("100.1%", "-1%", "1e9%"):
        result = ctx.pelt(["pose", "bar.gltf", "-o", "a.npz", "--clip", "bend", "--time=" + text])
        assert result.rc == 2 and "0% to 100%" in result.err, (text, result)
    assert ctx.files() == ["bar.gltf"]


def test_any_number_of_threads_gives_the_same_bytes(ctx):
    assert ctx.pelt("gen octopus -o o.glb --vertices 5000").rc == 0
    for threads in ("0", "1", "2", "7"):
        assert ctx.pelt(["pose", "o.glb", "--clip=#0", "--time=0.3", "--threads", threads, "-o", threads + ".npz"]).rc == 0
    files = {(ctx.tmp / (t + ".npz")).read_bytes() for t in ("0", "1", "2", "7")}
    assert len(files) == 1
