"""pelt gen: every kind is a valid, clean file of the size asked for."""
import json
import os


def make(ctx, kind, *more):
    path = os.path.join(ctx.tmp, kind + '.glb')
    rc, out, err = ctx.pelt(['gen', kind, '-o', path, '--force', '--json'] + list(more))
    assert rc == 0, err
    assert err == '', err
    return path, json.loads(out)


def inspect(ctx, path):
    rc, out, err = ctx.pelt(['inspect', path, '--json'])
    assert rc == 0 and err == '', err
    return json.loads(out)


def test_every_kind_imports_without_a_warning(ctx):
    for kind, more in (('octopus', ['--vertices', '2000']), ('worm', []), ('wide', []), ('deep', ['--joints', '300']),
                       ('crowd', ['--count', '4'])):
        path, made = make(ctx, kind, *more)
        assert made['warnings'] == [], made['warnings']
        assert inspect(ctx, path)['warnings'] == []


def test_octopus_has_what_the_help_promises(ctx):
    path, made = make(ctx, 'octopus')
    assert abs(made['vertices'] - 20000) < 1000 and made['joints'] == 100 and made['clips'] == 2
    report = inspect(ctx, path)
    text = json.dumps(report)
    for word in ('swim', 'wave', 'puff', 'NORMAL', 'TANGENT', 'TEXCOORD_0', 'COLOR_0'):
        assert word in text, word


def test_counts_are_as_asked(ctx):
    for vertices in (1000, 5000, 60000):
        _, made = make(ctx, 'octopus', '--vertices', str(vertices), '--joints', '60')
        assert abs(made['vertices'] / vertices - 1) < 0.15, made
        assert made['joints'] == 60
    assert make(ctx, 'deep', '--joints', '777')[1]['joints'] == 777
    assert make(ctx, 'crowd', '--count', '7')[1]['instances'] == 7


def test_wide_vertices_have_that_many_influences(ctx):
    for influences in (1, 5, 12):
        path, _ = make(ctx, 'wide', '--influences', str(influences))
        rc, out, _ = ctx.pelt(['inspect', path])
        assert 'at most %d per vertex' % influences in out, out


def test_clips_loop(ctx):
    path, _ = make(ctx, 'octopus', '--vertices', '1000')
    for clip in ('swim', 'wave'):
        boxes = []
        for time in ('0', '100%'):
            rc, out, err = ctx.pelt(['bounds', path, '--clip', clip, '--time', time, '--json'])
            assert rc == 0, err
            boxes.append(json.dumps(json.loads(out)['clips'][0]['box']))
        assert boxes[0] == boxes[1], boxes


def test_same_seed_same_bytes(ctx):
    read = lambda path: open(path, 'rb').read()
    first = read(make(ctx, 'octopus', '--vertices', '900', '--seed', '3')[0])
    assert first == read(make(ctx, 'octopus', '--vertices', '900', '--seed', '3')[0])
    assert first != read(make(ctx, 'octopus', '--vertices', '900', '--seed', '4')[0])


def test_nonsense_is_refused(ctx):
    out = os.path.join(ctx.tmp, 'x.glb')
    for arguments in (['squid', '-o', out], ['octopus'], ['octopus', '-o', out + '.obj'], ['octopus', '-o', out, '--joints', '3'],
                      ['worm', '-o', out, '--count', '3'],
                      ['octopus', '-o', out, '--vertices', '700'], ['octopus', '-o', out, '--influences', '3']):
        rc, _, err = ctx.pelt(['gen'] + arguments)
        assert rc == 2 and err.startswith('pelt: '), (arguments, rc, err)
    assert not os.path.exists(out)
