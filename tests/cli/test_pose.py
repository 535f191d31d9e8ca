# SPDX-License-Identifier: MIT
"""`pelt pose`: every format read back by other code and held against poses worked out by hand."""
import json
import math
import os
import subprocess

import export_read as read
from gltf_build import BAR_POSITIONS, Gltf, about_z, bar, translation

ALL = ['glb', 'gltf', 'obj', 'ply', 'stl', 'npz']
# The bar with its second joint turned by 90 degrees about z at (0, 1, 0): (x, y) there goes to (-(y - 1), 1 + x).
BENT = [(-.5, 0, 0), (.5, 0, .25), (-.25, .75, 0), (.25, 1.25, .25), (-1, .5, 0), (-1, 1.5, .25)]
TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def close(a, b, tolerance=1e-6):
    assert len(a) == len(b), (len(a), len(b))
    for x, y in zip(a, b):
        assert len(x) == len(y) and all(abs(p - q) <= tolerance for p, q in zip(x, y)), (x, y)


def box_of(positions):
    return [tuple(min(c) for c in zip(*positions)), tuple(max(c) for c in zip(*positions))]


def pose(ctx, source, output, *options):
    """The command's JSON; the file lies at ctx.tmp / output"""
    return ctx.json(['pose', source, '-o', output, '--json', *options])


def npz(ctx, source, *options, widths=(3,)):
    pose(ctx, source, 'read.npz', '--force', *options)
    return read.npz_primitives(ctx.tmp / 'read.npz', widths)


def bent(ctx):
    g = bar()
    g.clip((1, 'rotation', [0, 1], [about_z(0), about_z(90)]), name='bend')
    g.doc['nodes'][1]['rotation'] = about_z(90)
    return g.save(ctx.tmp / 'bent.gltf')


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def facing(positions, triangle, normal):
    """Above 0 where the triangle, seen counter-clockwise, faces along the normal"""
    a, b, c = (positions[i] for i in triangle)
    return sum(x * y for x, y in zip(cross(minus(b, a), minus(c, a)), normal))


def as_seen(p):
    """A glTF primitive in the world, by a viewer's rules: positions through the node's matrix, normals through its
    inverse transpose, and every triangle turned around where the node mirrors."""
    w = p['world']
    c = [cross(w[1][:3], w[2][:3]), cross(w[2][:3], w[0][:3]), cross(w[0][:3], w[1][:3])]
    d = sum(x * y for x, y in zip(w[0][:3], c[0]))
    positions = [tuple(sum(w[i][j] * v[j] for j in range(3)) + w[i][3] for i in range(3)) for v in p['positions']]
    normals = []
    for n in p['normals']:
        v = [sum(c[i][j] * n[j] for j in range(3)) / d for i in range(3)]
        length = math.sqrt(sum(x * x for x in v))
        normals.append(tuple(x / length for x in v))
    elements = [(e[0], e[2], e[1]) if d < 0 else e for e in p['elements']]
    return positions, normals, elements


# ---- positions, boxes, JSON


def test_rest_pose_of_a_bent_bar(ctx):
    info = pose(ctx, bent(ctx), 'o.npz')
    p, = read.npz_primitives(ctx.tmp / 'o.npz', (3,))
    close(p['positions'], BENT)
    close(p['normals'], [(0, 0, 1)] * 6)
    assert p['elements'] == [(0, 1, 2), (1, 3, 2), (2, 3, 4), (3, 5, 4)]
    assert info['schema'] == 'pelt/pose/1' and info['clip'] is None and info['time'] is None
    primitive, = info['primitives']
    assert {k: primitive[k] for k in ('k', 'node', 'mesh', 'primitive', 'skin', 'name', 'vertices')} == {
        'k': 0, 'node': 2, 'mesh': 0, 'primitive': 0, 'skin': 0, 'name': 'skinned', 'vertices': 6}
    assert info['space'] == 'world' and info['warnings'] == []


def test_a_clip_at_a_time_and_at_a_share_of_its_length(ctx):
    source = bent(ctx)
    s, c = math.sin(math.pi / 4), math.cos(math.pi / 4)
    end = [(0 - s, 1 + c, 0)]
    for time in ('0.5', '50%'):
        p, = npz(ctx, source, '--clip', 'bend', '--time', time)
        middle = [(x + y) / 2 for x, y in zip(p['positions'][4], p['positions'][5])][:2] + [0]
        close([middle], end)
    info = pose(ctx, source, 'o.obj', '--clip', '#0', '--time', '50%')
    assert info['clip'] == 0 and info['clip_name'] == 'bend' and info['time'] == 0.5


def test_boxes_are_the_positions_extremes_bit_for_bit(ctx):
    source = bent(ctx)
    for options in ([], ['--clip', '#0', '--time', '0.37'], ['--space', 'mesh']):
        info = pose(ctx, source, 'o.npz', '--force', *options)
        p, = read.npz_primitives(ctx.tmp / 'o.npz', (3,))
        assert p['box'] == box_of(p['positions']), (p['box'], box_of(p['positions']))
        assert [tuple(map(read.float32, info['primitives'][0]['box'][side])) for side in ('min', 'max')] == p['box']
        assert [tuple(map(read.float32, info['box'][side])) for side in ('min', 'max')] == p['box']
        pose(ctx, source, 'o.glb', '--force', *options)
        q, = read.read_gltf(ctx.tmp / 'o.glb')
        declared = q['doc']['accessors'][q['attributes']['POSITION']]
        assert [tuple(map(read.float32, declared[side])) for side in ('min', 'max')] == p['box']


def test_two_instances_of_one_mesh_keep_node_order(ctx):
    g = Gltf()
    mesh = g.mesh(g.primitive(TRIANGLE), g.primitive([[5, 0, 0], [6, 0, 0], [5, 1, 0]]), name='pair')
    g.node(name='group', children=[2, 1], translation=[0, 0, 10])
    g.node(mesh=mesh, name='first', translation=[1, 0, 0])
    g.node(mesh=mesh, name='second', rotation=about_z(90))
    g.node(mesh=mesh, name='not in the scene')
    g.doc['scenes'][0]['nodes'] = [0]
    info = pose(ctx, g.save(ctx.tmp / 'two.gltf'), 'o.npz')
    assert [(p['k'], p['node'], p['primitive'], p['name'], p['skin']) for p in info['primitives']] == [
        (0, 1, 0, 'first', None), (1, 1, 1, 'first', None), (2, 2, 0, 'second', None), (3, 2, 1, 'second', None)]
    ps = read.npz_primitives(ctx.tmp / 'o.npz', (3,) * 4)
    close(ps[0]['positions'], [(1, 0, 10), (2, 0, 10), (1, 1, 10)])
    close(ps[2]['positions'], [(0, 0, 10), (0, 1, 10), (-1, 0, 10)])
    close(ps[3]['positions'], [(0, 5, 10), (0, 6, 10), (-1, 5, 10)])


def test_rigid_instances_ignore_joint_attributes(ctx):
    g = bar()
    del g.doc['nodes'][2]['skin']
    g.doc['nodes'][2]['translation'] = [0, 0, 5]
    g.doc['nodes'][1]['rotation'] = about_z(90)
    p, = npz(ctx, g.save(ctx.tmp / 'rigid.gltf'))
    close(p['positions'], [(x, y, z + 5) for x, y, z in BAR_POSITIONS])


def test_the_mesh_nodes_transform_never_moves_a_skinned_vertex(ctx):
    g = bar(translation=[7, 8, 9], scale=[2, 3, 4], rotation=about_z(33))
    p, = npz(ctx, g.save(ctx.tmp / 'moved.gltf'))
    close(p['positions'], BAR_POSITIONS)


def morphing(ctx):
    g = Gltf()
    targets = [[[0, 0, 1]] * 3, [[0, 2, 0]] * 3]
    mesh = g.mesh(g.primitive(TRIANGLE, targets=targets), weights=[0.5, 0], extras={'targetNames': ['up', 'wide']})
    g.node(root=True, mesh=mesh)
    other = g.mesh(g.primitive(TRIANGLE, targets=targets[:1]), extras={'targetNames': ['up']})
    g.node(root=True, mesh=other, weights=[0.25])
    g.clip((0, 'weights', [0, 1], [0, 0, 1, 1]), name='grow')
    return g.save(ctx.tmp / 'morph.gltf')


def test_morph_weights_from_mesh_node_clip_and_option(ctx):
    source = morphing(ctx)

    def offsets(*options):
        ps = npz(ctx, source, *options, widths=(3, 3))
        return [ps[0]['positions'][0], ps[1]['positions'][0]]
    close(offsets(), [(0, 0, .5), (0, 0, .25)])
    close(offsets('--clip', 'grow', '--time', '0.75'), [(0, 1.5, .75), (0, 0, .25)])
    close(offsets('--morph', 'up=-2'), [(0, 0, -2), (0, 0, -2)])
    close(offsets('--morph', 'wide=3', '--clip', 'grow', '--time', '1'), [(0, 6, 1), (0, 0, .25)])
    close(offsets('--morph', '#1=0.5', '--morph', '#0=0'), [(0, 1, 0), (0, 0, 0)])


def test_an_unknown_morph_target_is_refused_with_the_names(ctx):
    result = ctx.fails(['pose', morphing(ctx), '-o', 'o.npz', '--morph', 'down=1'], 2, 'down', 'up', 'wide')
    assert ctx.files() == ['morph.gltf'], result
    ctx.fails(['pose', morphing(ctx), '-o', 'o.npz', '--morph', '#2=1'], 2, '#2')


# ---- formats


def test_every_format_gives_the_same_triangles(ctx):
    source = bent(ctx)
    at = ['--clip', 'bend', '--time', '0.8']
    for ending in ALL:
        pose(ctx, source, 'o.' + ending, *at)
    p, = read.npz_primitives(ctx.tmp / 'o.npz', (3,))
    want = [[p['positions'][i] for i in e] for e in p['elements']]
    assert len(want) == 4
    for ending in ('glb', 'gltf'):
        q, = read.read_gltf(ctx.tmp / ('o.' + ending))
        assert q['positions'] == p['positions'] and q['normals'] == p['normals']
        assert q['elements'] == p['elements'] and q['mode'] == 4 and q['name'] == 'skinned'
        assert not set(q['attributes']) - {'POSITION', 'NORMAL'}
        for gone in ('skins', 'animations'):
            assert gone not in q['doc'], gone
    objects, lists = read.read_obj(ctx.tmp / 'o.obj')
    assert [[lists['v'][i] for i in e] for e in objects[0]['elements']] == want
    assert lists['vn'] == p['normals']
    ply = read.read_ply(ctx.tmp / 'o.ply')
    at = [(v['x'], v['y'], v['z']) for v in ply['vertex']]
    assert [[at[i] for i in f['vertex_indices']] for f in ply['face']] == want
    assert [(v['nx'], v['ny'], v['nz']) for v in ply['vertex']] == p['normals']
    assert [corners for _, corners in read.read_stl(ctx.tmp / 'o.stl')] == want


def test_numpy_reads_npz(ctx):
    script = ('import numpy, sys; a = numpy.load(sys.argv[1]); '
              'print({k: (str(a[k].dtype), a[k].shape) for k in sorted(a.files)})')
    if subprocess.run(['/usr/bin/python3', '-c', 'import numpy'], capture_output=True).returncode:
        ctx.skip('NumPy is not there')
    pose(ctx, bent(ctx), 'o.npz')
    got = subprocess.run(['/usr/bin/python3', '-c', script, str(ctx.tmp / 'o.npz')], capture_output=True, text=True)
    assert got.returncode == 0, got.stderr
    assert eval(got.stdout) == {'positions_0': ('float32', (6, 3)), 'normals_0': ('float32', (6, 3)),
                                'indices_0': ('uint32', (12,)), 'box_0': ('float32', (2, 3))}


def test_npz_has_tangents_only_where_the_file_does(ctx):
    g = Gltf()
    g.node(root=True, mesh=g.mesh(g.primitive(TRIANGLE, normals=[[0, 0, 1]] * 3, tangents=[[1, 0, 0, -1]] * 3),
                                  g.primitive(TRIANGLE)))
    pose(ctx, g.save(ctx.tmp / 't.gltf'), 'o.npz')
    arrays = read.read_npz(ctx.tmp / 'o.npz')
    assert sorted(arrays) == ['box_0', 'box_1', 'indices_0', 'indices_1', 'normals_0', 'positions_0', 'positions_1',
                              'tangents_0']
    assert arrays['tangents_0'] == ('<f4', (3, 4), [1.0, 0.0, 0.0, -1.0] * 3)
    assert arrays['indices_1'] == ('<u4', (3,), [0, 1, 2])


def test_same_bytes_every_time_and_for_any_thread_count(ctx):
    source = bent(ctx)
    for ending in ALL:
        contents = []
        for threads in ('1', '4', '1'):
            pose(ctx, source, 'o.' + ending, '--force', '--threads', threads, '--clip', '#0', '--time', '0.3')
            contents.append((ctx.tmp / ('o.' + ending)).read_bytes())
            if ending == 'gltf':
                contents[-1] += (ctx.tmp / 'o.bin').read_bytes()
        assert contents[0] == contents[1] == contents[2], ending


def test_strips_fans_and_lines_become_lists(ctx):
    five = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0]]
    g = Gltf()
    g.node(root=True, mesh=g.mesh(*[g.primitive(five, [4, 3, 2, 2, 0], mode=mode) for mode in range(7)]))
    widths = [1, 2, 2, 2, 3, 3, 3]
    source = g.save(ctx.tmp / 'modes.gltf')
    pose(ctx, source, 'o.npz')
    ps = read.npz_primitives(ctx.tmp / 'o.npz', widths)
    assert [p['elements'] for p in ps] == [
        [(4,), (3,), (2,), (2,), (0,)],
        [(4, 3), (2, 2)],
        [(4, 3), (3, 2), (2, 2), (2, 0), (0, 4)],
        [(4, 3), (3, 2), (2, 2), (2, 0)],
        [(4, 3, 2)],
        [(4, 3, 2), (3, 2, 2), (2, 2, 0)],
        [(3, 2, 4), (2, 2, 4), (2, 0, 4)]]
    # The glTF output keeps the topologies: nothing turned around.
    pose(ctx, source, 'o.glb')
    assert [q['mode'] for q in read.read_gltf(ctx.tmp / 'o.glb')] == list(range(7))
    assert [q['elements'] for q in read.read_gltf(ctx.tmp / 'o.glb')] == [p['elements'] for p in ps]
    pose(ctx, source, 'o.obj')
    objects, lists = read.read_obj(ctx.tmp / 'o.obj')
    assert [[tuple(i - 5 * k for i in e) for e in o['elements']] for k, o in enumerate(objects)] == [
        p['elements'] for p in ps]
    pose(ctx, source, 'o.ply')
    ply = read.read_ply(ctx.tmp / 'o.ply')
    assert [tuple(f['vertex_indices']) for f in ply['face']] == [
        tuple(i + 5 * k for i in e) for k in (4, 5, 6) for e in ps[k]['elements']]
    assert [(e['vertex1'], e['vertex2']) for e in ply['edge']] == [
        tuple(i + 5 * k for i in e) for k in (1, 2, 3) for e in ps[k]['elements']]
    info = pose(ctx, source, 'o.stl')
    assert len(read.read_stl(ctx.tmp / 'o.stl')) == 7
    assert any('lines, points' in w['message'] for w in info['warnings']), info['warnings']


def dressed(ctx):
    g = Gltf()
    g.add('materials', {'name': 'red # 1'})
    p = g.primitive(TRIANGLE, normals=[[0, 0, 1]] * 3, tangents=[[1, 0, 0, 1]] * 3,
                    TEXCOORD_0=[[0, 0], [1, .25], [.5, 1]], COLOR_0=[[1, 0, .5], [2, -1, 0], [0, 1, .2]], material=0)
    g.node(root=True, mesh=g.mesh(p, g.primitive([[x, y, 5] for x, y, _ in TRIANGLE]), name='two words'),
           name='a\nb')
    return g.save(ctx.tmp / 'dressed.gltf')


def test_obj_names_materials_and_texture_coordinates(ctx):
    info = pose(ctx, dressed(ctx), 'o.obj')
    objects, lists = read.read_obj(ctx.tmp / 'o.obj')
    assert [o['name'] for o in objects] == ['a_b.two_words.0', 'a_b.two_words.1']
    assert objects[0]['material'] == 'red___1' and objects[1]['material'] is None
    assert lists['vt'] == [(0, 1), (1, .75), (.5, 0)]
    assert objects[0]['corners'] == [[[1, 1, 1], [2, 2, 2], [3, 3, 3]]]
    assert objects[1]['corners'] == [[[4], [5], [6]]]
    text = ' '.join(w['message'] for w in info['warnings'])
    assert 'tangents' in text and 'colours' in text and 'texture' not in text, text


def test_ply_colours_and_what_some_primitives_lack(ctx):
    info = pose(ctx, dressed(ctx), 'o.ply')
    vertices = read.read_ply(ctx.tmp / 'o.ply')['vertex']
    colours = [tuple(v[c] for c in ('red', 'green', 'blue', 'alpha')) for v in vertices]
    assert colours == [(255, 0, 128, 255), (255, 0, 0, 255), (0, 255, 51, 255)] + [(255,) * 4] * 3
    assert [(v['s'], v['t']) for v in vertices] == [(0, 1), (1, .75), (.5, 0)] + [(0, 0)] * 3
    assert [v['nz'] for v in vertices] == [1, 1, 1, 0, 0, 0]
    assert any('same attributes' in w['message'] for w in info['warnings']), info['warnings']


def test_stl_normals_are_those_of_the_planes(ctx):
    g = Gltf()
    g.node(root=True, mesh=g.mesh(g.primitive(TRIANGLE + [[0, 0, 2]], [0, 1, 2, 0, 2, 3, 1, 1, 2])))
    pose(ctx, g.save(ctx.tmp / 'f.gltf'), 'o.stl')
    close([n for n, _ in read.read_stl(ctx.tmp / 'o.stl')], [(0, 0, 1), (1, 0, 0), (0, 0, 0)])


def test_gltf_output_names_its_buffer_in_a_uri(ctx):
    info = pose(ctx, bent(ctx), 'a b#ü.gltf')
    assert 'a b#ü.bin' in ctx.files() and info['output'] == 'a b#ü.gltf'
    q, = read.read_gltf(ctx.tmp / 'a b#ü.gltf')
    assert q['doc']['buffers'][0]['uri'] == 'a%20b%23%C3%BC.bin'
    close(q['positions'], BENT)


def test_endings_in_capitals_are_known(ctx):
    pose(ctx, bent(ctx), 'o.NPZ')
    read.read_npz(ctx.tmp / 'o.NPZ')


def test_a_file_without_meshes_gives_empty_files(ctx):
    g = Gltf()
    g.node(root=True, name='alone')
    source = g.save(ctx.tmp / 'empty.gltf')
    for ending in ('glb', 'gltf', 'obj', 'ply', 'npz'):
        info = pose(ctx, source, 'o.' + ending)
        assert info['primitives'] == [] and info['box'] is None
        assert any('no mesh' in w['message'] for w in info['warnings'])
    assert read.read_npz(ctx.tmp / 'o.npz') == {}
    assert read.read_ply(ctx.tmp / 'o.ply') == {'vertex': []}
    ctx.fails(['pose', source, '-o', 'o.stl'], 5, 'STL', 'triangles')


# ---- mirrors and mesh space


def mirror(ctx, kind):
    """One triangle facing +z, and where it mirrors: 'node' (rigid), 'mesh' (the node of a skinned mesh), 'joint'."""
    g = Gltf()
    skinned = kind != 'node'
    g.mesh(g.primitive(TRIANGLE, [0, 1, 2], normals=[[0, 0, 1]] * 3, tangents=[[1, 0, 0, 1]] * 3,
                       joints=[[0, 0, 0, 0]] * 3 if skinned else None,
                       weights=[[1, 0, 0, 0]] * 3 if skinned else None))
    flip = {'scale': [-2, 1, 1], 'rotation': about_z(30), 'translation': [3, 0, 0]}
    g.node(root=True, **(flip if kind == 'joint' else {}))
    if skinned:
        g.skin([0])
    g.node(root=True, mesh=0, **({'skin': 0} if skinned else {}), **(flip if kind != 'joint' else {}))
    return g.save(ctx.tmp / (kind + '.gltf'))


def test_outside_stays_outside_under_mirrors(ctx):
    turned = {'node': True, 'mesh': False, 'joint': True}
    for kind in turned:
        p, = npz(ctx, mirror(ctx, kind))
        assert p['elements'] == [(0, 2, 1) if turned[kind] else (0, 1, 2)], kind
        close(p['normals'], [(0, 0, 1)] * 3)
        assert [t[3] for t in p['tangents']] == [-1 if turned[kind] else 1] * 3, kind
        for ending in ('glb', 'obj', 'ply', 'stl'):
            pose(ctx, ctx.tmp / (kind + '.gltf'), 'o.' + ending, '--force')
        q, = read.read_gltf(ctx.tmp / 'o.glb')
        positions, normals, elements = as_seen(q)
        close(positions, p['positions'])
        assert elements == p['elements'] and facing(positions, elements[0], normals[0]) > 0, kind
        objects, lists = read.read_obj(ctx.tmp / 'o.obj')
        assert objects[0]['elements'] == p['elements'] and facing(lists['v'], objects[0]['elements'][0], (0, 0, 1)) > 0
        assert tuple(read.read_ply(ctx.tmp / 'o.ply')['face'][0]['vertex_indices']) == p['elements'][0]
        close([n for n, _ in read.read_stl(ctx.tmp / 'o.stl')], [(0, 0, 1)])


def test_a_mirrored_strip_becomes_turned_triangles(ctx):
    g = Gltf()
    g.node(root=True, mesh=g.mesh(g.primitive([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], mode=5)), scale=[1, 1, -1])
    source = g.save(ctx.tmp / 'strip.gltf')
    p, = npz(ctx, source)
    assert p['elements'] == [(0, 2, 1), (1, 2, 3)]
    pose(ctx, source, 'o.glb')
    q, = read.read_gltf(ctx.tmp / 'o.glb')
    assert q['mode'] == 4 and q['elements'] == p['elements']


def test_two_mirrored_vertices_turn_a_triangle_and_one_does_not(ctx):
    g = Gltf()
    g.node(root=True)
    g.node(root=True, scale=[1, 1, -1])
    g.skin([0, 1])
    four = TRIANGLE + [[1, 1, 0]]
    g.mesh(g.primitive(four, [0, 1, 2, 1, 3, 2], joints=[[0, 1, 0, 0]] * 4,
                       weights=[[1, 0, 0, 0]] * 2 + [[0, 1, 0, 0]] * 2))
    g.node(root=True, mesh=0, skin=0)
    p, = npz(ctx, g.save(ctx.tmp / 'mixed.gltf'))
    assert p['elements'] == [(0, 1, 2), (1, 2, 3)]


def test_mesh_space_changes_nothing_of_a_rigid_mesh(ctx):
    source = mirror(ctx, 'node')
    p, = npz(ctx, source, '--space', 'mesh')
    assert p['positions'] == [tuple(v) for v in TRIANGLE] and p['elements'] == [(0, 1, 2)]
    assert p['normals'] == [(0, 0, 1)] * 3 and p['tangents'] == [(1, 0, 0, 1)] * 3


def test_mesh_space_seen_through_its_nodes_is_world_space(ctx):
    for kind in ('node', 'mesh', 'joint'):
        source = mirror(ctx, kind)
        info = pose(ctx, source, 'm.glb', '--space', 'mesh', '--force')
        assert info['space'] == 'mesh'
        pose(ctx, source, 'w.glb', '--force')
        seen = as_seen(read.read_gltf(ctx.tmp / 'm.glb')[0])
        world = as_seen(read.read_gltf(ctx.tmp / 'w.glb')[0])
        close(seen[0], world[0])
        close(seen[1], world[1])
        assert seen[2] == world[2], kind
        p, = npz(ctx, source, '--space', 'mesh')
        assert facing(p['positions'], p['elements'][0], p['normals'][0]) > 0, kind


def test_mesh_space_of_a_moved_skinned_mesh(ctx):
    g = bar(translation=[0, 0, 4], scale=[2, 1, .5])
    p, = npz(ctx, g.save(ctx.tmp / 'moved.gltf'), '--space', 'mesh')
    close(p['positions'], [(x / 2, y, (z - 4) * 2) for x, y, z in BAR_POSITIONS])
    close(p['normals'], [(0, 0, 1)] * 6)


def test_mesh_space_needs_a_node_that_can_be_inverted(ctx):
    g = bar(scale=[1, 0, 1], rotation=about_z(20), name='flat')
    source = g.save(ctx.tmp / 'flat.gltf')
    ctx.fails(['pose', source, '-o', 'o.npz', '--space', 'mesh'], 4, '/nodes/2', 'flat')
    assert ctx.files() == ['flat.gltf']
    del g.doc['nodes'][2]['skin']
    p, = npz(ctx, g.save(source), '--space', 'mesh')
    close(p['positions'], BAR_POSITIONS)


# ---- refusals


def test_unknown_endings_are_a_usage_error_that_lists_the_known(ctx):
    source = bent(ctx)
    for name in ('o.fbx', 'o', '.glb', 'x.glb/o', 'o.'):
        ctx.fails(['pose', source, '-o', name], 2, '.glb', '.gltf', '.obj', '.ply', '.stl', '.npz')
    assert ctx.files() == ['bent.gltf']


def test_time_needs_a_clip(ctx):
    ctx.fails(['pose', bent(ctx), '-o', 'o.npz', '--time', '1'], 2, '--time', '--clip')


def test_files_are_not_replaced_without_force(ctx):
    source = bent(ctx)
    for ending in ALL:
        name = 'o.' + ending
        (ctx.tmp / name).write_text('mine')
        ctx.fails(['pose', source, '-o', name], 3, name, '--force')
        assert (ctx.tmp / name).read_text() == 'mine'
    (ctx.tmp / 'p.bin').write_text('mine')
    ctx.fails(['pose', source, '-o', 'p.gltf'], 3, 'p.bin', '--force')
    assert 'p.gltf' not in ctx.files() and (ctx.tmp / 'p.bin').read_text() == 'mine'
    assert ctx.files() == sorted(['bent.gltf', 'p.bin'] + ['o.' + ending for ending in ALL])
    pose(ctx, source, 'p.gltf', '--force')
    read.read_gltf(ctx.tmp / 'p.gltf')


def test_overflow_names_node_primitive_and_vertex_and_leaves_no_file(ctx):
    g = Gltf()
    g.node(root=True, scale=[1e20, 1, 1], children=[1])
    g.node(mesh=g.mesh(g.primitive([[0, 0, 0], [1, 0, 0], [1e20, 1, 0]])))
    source = g.save(ctx.tmp / 'far.gltf')
    for ending in ALL:
        ctx.fails(['pose', source, '-o', 'o.' + ending], 4, 'node 1', 'primitive 0', 'vertex 2')
    ctx.fails(['bounds', source], 4, 'node 1', 'primitive 0', 'vertex 2')
    assert ctx.files() == ['far.gltf']


def test_stl_of_lines_is_refused_naming_why(ctx):
    g = Gltf()
    g.node(root=True, mesh=g.mesh(g.primitive(TRIANGLE, mode=1)))
    ctx.fails(['pose', g.save(ctx.tmp / 'lines.gltf'), '-o', 'o.stl'], 5, 'STL', 'triangles')
    assert ctx.files() == ['lines.gltf']


def test_a_full_disk_leaves_no_file(ctx):
    source = bent(ctx)
    if not hasattr(os, 'uname') or os.uname().sysname != 'Linux':
        ctx.skip('needs a limit on file sizes')

    def limit():
        import resource
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
    for ending in ALL:
        result = ctx.pelt(['pose', source, '-o', 'o.' + ending], preexec_fn=limit)
        assert result.rc == 3 and 'cannot write' in result.err, (ending, result)
        assert ctx.files() == ['bent.gltf'], (ending, ctx.files())


def test_posed_vertices_count_towards_the_memory_limit(ctx):
    g = Gltf()
    mesh = g.mesh(g.primitive([[i, 0, 0] for i in range(3000)]))
    for _ in range(1000):
        g.node(root=True, mesh=mesh)
    source = g.save(ctx.tmp / 'many.gltf')
    ctx.fails(['pose', source, '-o', 'o.npz', '--max-memory', '8M'], 7, '--max-memory')
    assert ctx.files() == ['many.gltf']


def test_text_output_tells_what_was_written(ctx):
    result = ctx.pelt(['pose', bent(ctx), '-o', 'o.npz', '--clip', 'bend', '--time', '1'])
    assert result.rc == 0 and result.err == ''
    assert result.out.startswith('o.npz: 6 vertices in 1 primitive, clip #0 "bend" at 1 s, world space\nbox (-1, 0, 0)')
