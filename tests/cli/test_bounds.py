# SPDX-License-Identifier: MIT
"""`pelt bounds`: exact boxes against closed forms, declared boxes, sampling of clips, verdicts."""
import math

import export_read as read
from gltf_build import BAR_POSITIONS, Gltf, about_z, bar

TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def sides(box):
    return box['min'] + box['max']


def close(box, low, high, tolerance=1e-6):
    assert box and all(abs(a - b) <= tolerance for a, b in zip(sides(box), list(low) + list(high))), (box, low, high)


def bounds(ctx, source, *options, rc=0):
    info = ctx.json(['bounds', source, '--json', *options], rc=rc)
    assert info['schema'] == 'pelt/bounds/1'
    return info


def one(ctx, source, *options):
    """The only result's only primitive"""
    result, = bounds(ctx, source, *options)['clips']
    primitive, = result['primitives']
    return primitive


def swing(ctx, *more):
    """The bar's second joint swings from -60 to 60 degrees in a second; its end passes the top between the keys."""
    g = bar()
    g.clip((1, 'rotation', [0, 1], [about_z(-60), about_z(60)]), name='swing')
    for clip in more:
        g.clip(*clip)
    return g.save(ctx.tmp / 'swing.gltf')


def test_rest_pose_box(ctx):
    info = bounds(ctx, swing(ctx))
    assert info['fps'] is None and info['outside'] is False and info['space'] == 'world'
    result, = info['clips']
    assert result['clip'] is None and result['times'] == 1
    close(result['box'], (-.5, 0, 0), (.5, 2, .25))
    p, = result['primitives']
    assert [p[k] for k in ('k', 'node', 'mesh', 'primitive', 'skin', 'name', 'mesh_name', 'vertices')] == [
        0, 2, 0, 0, 0, 'skinned', 'bar', 6]
    assert p['outside_volume'] == 0 and p['volume_ratio'] == 1 and p['declared_space'] == 'bind'


def test_the_arc_between_two_keys_is_covered(ctx):
    # The vertex (0.5, 1) of the second joint turns on a circle of radius sqrt(1.25) around (0, 1): y reaches 1 + that
    # radius. A grid of 60 a second comes within one degree of the top: 1 - cos(1 degree) of the radius.
    reach = 1 + math.sqrt(1.25)
    side = math.sin(math.radians(60)) + .5 * math.cos(math.radians(60))
    result, = bounds(ctx, swing(ctx), '--clip', 'swing')['clips']
    close(result['box'], (-side, 0, 0), (side, reach, .25), tolerance=2e-4)
    assert result['times'] == 61 and result['key_times'] == 2 and result['grid_times'] == 61
    assert result['duration'] == 1 and result['clip_name'] == 'swing' and result['time'] is None
    finer, = bounds(ctx, swing(ctx), '--clip', 'swing', '--fps', '5000')['clips']
    close(finer['box'], (-side, 0, 0), (side, reach, .25), tolerance=1e-6)
    assert finer['times'] == 5001
    keys, = bounds(ctx, swing(ctx), '--clip', 'swing', '--fps', '0.001')['clips']
    assert keys['times'] == 2 and keys['box']['max'][1] < 1.94


def test_cubic_overshoot_between_keys_is_covered(ctx):
    # p(u) = (2u^3 - 3u^2 + 1) 0 + (u^3 - 2u^2 + u) 2 m + (u^3 - u^2) 2 n with m = -4, n = 0 over two seconds:
    # -8 (u^3 - 2u^2 + u), lowest where 3u^2 - 4u + 1 = 0, at u = 1/3: -8 * 4/27.
    g = Gltf()
    g.node(root=True, mesh=g.mesh(g.primitive(TRIANGLE)))
    zero = [0, 0, 0]
    g.clip((0, 'translation', [0, 2], [zero, zero, [0, -4, 0], zero, zero, zero], 'CUBICSPLINE'))
    result, = bounds(ctx, g.save(ctx.tmp / 'cubic.gltf'), '--clip', '#0')['clips']
    close(result['box'], (0, -32 / 27, 0), (1, 1, 0), tolerance=2e-4)
    assert result['times'] == 121


def test_one_moment_equals_the_pose_of_that_moment(ctx):
    source = swing(ctx)
    for time in ('0.3', '25%', '7', '0'):
        result, = bounds(ctx, source, '--clip', '#0', '--time', time)['clips']
        posed = ctx.json(['pose', source, '--clip', '#0', '--time', time, '-o', 'o.npz', '--json', '--force'])
        assert result['box'] == posed['box'] and result['times'] == 1 and result['time'] == posed['time']
        assert result['primitives'][0]['box'] == posed['primitives'][0]['box']


def test_the_union_is_that_of_its_moments_bit_for_bit(ctx):
    source = swing(ctx)
    whole, = bounds(ctx, source, '--clip', '#0', '--fps', '4')['clips']
    parts = [sides(bounds(ctx, source, '--clip', '#0', '--time', str(i / 4))['clips'][0]['box']) for i in range(5)]
    columns = list(zip(*parts))
    assert sides(whole['box']) == [min(c) for c in columns[:3]] + [max(c) for c in columns[3:]]


def test_all_clips_and_their_union(ctx):
    # The second clip moves the root only; the first one must not leak into it.
    source = swing(ctx, [(0, 'translation', [0, 2], [[0, 0, 0], [3, 0, 0]])])
    info = bounds(ctx, source, '--clip', 'all')
    first, second = info['clips']
    alone, = bounds(ctx, source, '--clip', '#1')['clips']
    assert second == alone and second['clip'] == 1
    close(second['box'], (-.5, 0, 0), (3.5, 2, .25))
    for i in range(3):
        assert info['all']['box']['min'][i] == min(first['box']['min'][i], second['box']['min'][i])
        assert info['all']['box']['max'][i] == max(first['box']['max'][i], second['box']['max'][i])
    assert info['all']['times'] == 61 + 121
    assert info['all']['primitives'][0]['leaves']['max'][0] == 3


def test_how_far_a_skinned_mesh_leaves_its_declared_box(ctx):
    g = bar()
    g.doc['nodes'][1]['rotation'] = about_z(90)
    p = one(ctx, g.save(ctx.tmp / 'bent.gltf'))
    # Posed: x -1 to 0.5, y 0 to 1.5; declared: x -0.5 to 0.5, y 0 to 2.
    close(p['box'], (-1, 0, 0), (.5, 1.5, .25))
    close(p['declared'], (-.5, 0, 0), (.5, 2, .25))
    diagonal = math.sqrt(1 + 4 + .0625)
    assert p['outside'] is True
    close(p['leaves'], (.5, 0, 0), (0, 0, 0))
    close(p['leaves_share'], (.5 / diagonal, 0, 0), (0, 0, 0))
    assert abs(p['outside_volume'] - 1 / 3) < 1e-6
    assert abs(p['volume_ratio'] - 1.5 * 1.5 / 2) < 1e-6


def test_a_rigid_meshs_declared_box_goes_with_its_node(ctx):
    g = Gltf()
    cube = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    g.node(root=True, mesh=g.mesh(g.primitive(cube)), translation=[1e4, 0, 0], scale=[2, 2, 2])
    g.clip((0, 'translation', [0, 1], [[1e4, 0, 0], [1e4 + 10, 0, 0]]), (0, 'rotation', [0, 1], [about_z(0), about_z(77)]))
    source = g.save(ctx.tmp / 'cube.gltf')
    for options in ([], ['--clip', '#0'], ['--clip', '#0', '--time', '0.31']):
        p = one(ctx, source, *options, '--fail-outside')
        assert p['outside'] is False and p['declared_space'] == 'world', p
    moved = one(ctx, source, '--clip', '#0', '--time', '1')
    assert moved['declared']['max'][0] > 1e4 + 10


def test_a_wrong_declared_box_is_told_and_fails_on_request(ctx):
    g = Gltf()
    short = {'min': [0, 0, 0], 'max': [1, .75, 0]}
    g.node(root=True, mesh=g.mesh(g.primitive(TRIANGLE, position_bounds=short)), name='short')
    source = g.save(ctx.tmp / 'short.gltf')
    info = bounds(ctx, source)
    assert info['outside'] is True
    p = info['clips'][0]['primitives'][0]
    assert p['leaves'] == {'min': [0, 0, 0], 'max': [0, .25, 0]}
    assert p['outside_volume'] is None and p['volume_ratio'] is None  # flat: no volume
    assert bounds(ctx, source, '--fail-outside', rc=1) == info
    text = ctx.pelt(['bounds', source, '--fail-outside'])
    assert text.rc == 1 and text.err == '' and 'leaves the declared box' in text.out
    row, = [line.split() for line in text.out.splitlines() if line.startswith('  leaves by')]
    assert [float(x) for x in row[2:]] == [0, 0, 0, 0, .25, 0]


def test_rounding_is_no_leaving(ctx):
    g = Gltf()
    nearly = {'min': [0, 0, 0], 'max': [0.9999999, 1, 0]}
    g.node(root=True, mesh=g.mesh(g.primitive(TRIANGLE, position_bounds=nearly)))
    assert bounds(ctx, g.save(ctx.tmp / 'nearly.gltf'), '--fail-outside')['outside'] is False


def test_vertices_that_no_index_uses(ctx):
    g = Gltf()
    far = TRIANGLE + [[50, 50, 50], [9, 9, 9]]
    g.node(root=True, mesh=g.mesh(g.primitive(far, [0, 1, 2])), translation=[0, 0, 1])
    source = g.save(ctx.tmp / 'far.gltf')
    p = one(ctx, source)
    close(p['box'], (0, 0, 1), (50, 50, 51))
    close(p['used_box'], (0, 0, 1), (1, 1, 1))
    assert p['unused_vertices'] == 2
    text = ctx.pelt(['bounds', source]).out
    assert 'used only' in text and '2 vertices that no index uses enlarge the box' in text
    inner = TRIANGLE + [[.2, .2, 0]]
    g = Gltf()
    g.node(root=True, mesh=g.mesh(g.primitive(inner, [0, 1, 2])))
    p = one(ctx, g.save(source))
    assert p['used_box'] == p['box'] and p['unused_vertices'] == 1
    assert 'used only' not in ctx.pelt(['bounds', source]).out


def test_morph_weights_enlarge_boxes(ctx):
    g = Gltf()
    mesh = g.mesh(g.primitive(TRIANGLE, targets=[[[0, 0, 4]] * 3]), extras={'targetNames': ['up']})
    g.node(root=True, mesh=mesh)
    g.clip((0, 'weights', [0, 1], [-1, 1]))
    source = g.save(ctx.tmp / 'morph.gltf')
    close(one(ctx, source, '--clip', '#0')['box'], (0, 0, -4), (1, 1, 4))
    close(one(ctx, source, '--morph', 'up=0.5')['box'], (0, 0, 2), (1, 1, 2))
    ctx.fails(['bounds', source, '--morph', 'down=1'], 2, 'down', 'up')


def test_what_stands_still_keeps_its_box_while_others_move(ctx):
    g = bar()
    mesh = g.mesh(g.primitive([[7, 7, 7], [8, 7, 7], [7, 8, 7]]))
    g.node(root=True, mesh=mesh, name='still')
    g.node(root=True, mesh=mesh, name='moving')
    g.clip((1, 'rotation', [0, 1], [about_z(-60), about_z(60)]), (4, 'translation', [0, 1], [[0, 0, 0], [0, 0, 1]]))
    g.clip((0, 'translation', [0, 1], [[0, 0, 0], [0, 0, -1]]))
    info = bounds(ctx, g.save(ctx.tmp / 'three.gltf'), '--clip', 'all')
    for result, high, low in ((info['clips'][0], 8, 0), (info['clips'][1], 7, -1)):
        by_name = {p['name']: p['box'] for p in result['primitives']}
        close(by_name['still'], (7, 7, 7), (8, 8, 7))
        close(by_name['moving'], (7, 7, 7), (8, 8, high))
        assert by_name['skinned']['min'][2] == low


def test_key_times_that_no_grid_meets_are_measured(ctx):
    # A jump that lasts from 0.501 to 0.502: only the keys see it.
    g = Gltf()
    g.node(root=True, mesh=g.mesh(g.primitive(TRIANGLE)))
    g.clip((0, 'translation', [0, .501, .502, 1], [[0, 0, 0], [0, 0, 9], [0, 0, 0], [0, 0, 0]], 'STEP'))
    result, = bounds(ctx, g.save(ctx.tmp / 'jump.gltf'), '--clip', '#0')['clips']
    close(result['box'], (0, 0, 0), (1, 1, 9))
    assert result['key_times'] == 4 and result['grid_times'] == 61 and result['times'] == 63


def test_the_same_answer_for_any_thread_count(ctx):
    source = swing(ctx)
    assert bounds(ctx, source, '--clip', 'all', '--threads', '1') == bounds(ctx, source, '--clip', 'all', '--threads', '4')


def test_text_says_how_a_clip_was_sampled(ctx):
    result = ctx.pelt(['bounds', swing(ctx), '--clip', 'swing'])
    assert result.rc == 0 and result.err == ''
    lines = result.out.splitlines()
    assert lines[0] == ('clip #0 "swing", 1 s, union over 61 moments: all 2 key times and an even grid of 60 a second')
    rows = [line for line in lines if line.startswith(('  whole file', '  box', '  declared', '  leaves by', '  %'))]
    assert len(rows) == 5 and len({len(row) for row in rows}) == 1, rows


def test_text_of_a_bent_bar_and_a_rigid_one(ctx):
    g = bar()
    g.doc['nodes'][1]['rotation'] = about_z(90)
    far = TRIANGLE + [[50, 50, 50]]
    g.node(root=True, mesh=g.mesh(g.primitive(far, [0, 1, 2])), name='with a stray vertex')
    source = g.save(ctx.tmp / 'bent.gltf')
    ctx.golden('bounds_rest.txt', ctx.pelt(['bounds', source]).out)


def test_options_that_do_not_go_together(ctx):
    source = swing(ctx)
    ctx.fails(['bounds', source, '--time', '1'], 2, '--time', '--clip')
    ctx.fails(['bounds', source, '--fps', '30'], 2, '--fps', '--clip')
    ctx.fails(['bounds', source, '--clip', '#0', '--time', '1', '--fps', '30'], 2, '--time', '--fps')
    ctx.fails(['bounds', source, '--clip', 'nothing'], 2, 'nothing', 'swing')
    ctx.fails(['bounds', bar().save(ctx.tmp / 'still.gltf'), '--clip', 'all'], 2, 'no clips')


def test_too_many_moments_are_a_limit(ctx):
    g = bar()
    g.clip((1, 'rotation', [0, 1e9], [about_z(0), about_z(60)]))
    ctx.fails(['bounds', g.save(ctx.tmp / 'long.gltf'), '--clip', '#0'], 7, '--fps')
    result, = bounds(ctx, ctx.tmp / 'long.gltf', '--clip', '#0', '--time', '50%')['clips']
    assert result['time'] == 5e8


def test_a_file_without_meshes(ctx):
    g = Gltf()
    g.node(root=True)
    info = bounds(ctx, g.save(ctx.tmp / 'empty.gltf'))
    assert info['clips'][0]['box'] is None and info['clips'][0]['primitives'] == [] and info['outside'] is False
    assert 'empty' in ctx.pelt(['bounds', ctx.tmp / 'empty.gltf']).out


def test_positions_of_pose_lie_in_the_box_and_touch_it(ctx):
    source = swing(ctx)
    ctx.json(['pose', source, '--clip', '#0', '--time', '1', '-o', 'o.npz', '--json'])
    p, = read.npz_primitives(ctx.tmp / 'o.npz', (3,))
    box = bounds(ctx, source, '--clip', '#0', '--time', '1')['clips'][0]['box']
    assert len(p['positions']) == len(BAR_POSITIONS)
    assert [tuple(map(read.float32, box[s])) for s in ('min', 'max')] == [
        tuple(min(c) for c in zip(*p['positions'])), tuple(max(c) for c in zip(*p['positions']))]
