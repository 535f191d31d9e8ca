# SPDX-License-Identifier: MIT
"""`pelt verify`: what it counts, its verdicts, and what it says where there is no device."""
import glob
import json
import math

import export_read as read
import test_devices
from gltf_build import BAR_POSITIONS, Gltf, bar

NO_DRIVER = {'VK_DRIVER_FILES': '/nonexistent', 'VK_ICD_FILENAMES': '/nonexistent'}
TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
CHECKS = ('positions', 'normals', 'tangents', 'handedness', 'boxes', 'conservative_boxes', 'previous_positions')


def verify(ctx, *words, rc=0, isa='scalar', **keywords):
    info = ctx.json(['verify', '--json', *words, '--isa', isa], rc=rc, **keywords)
    assert info['schema'] == 'pelt/verify/1'
    return info


def with_device(ctx, info):
    if info['no_device']:
        ctx.skip('no Vulkan device: ' + info['no_device'])
    return info


def morphed(ctx, weight):
    """The bar with a morph target whose weight goes from 0 to `weight` in a second."""
    g = bar()
    g.doc['meshes'][0]['primitives'][0]['targets'] = [{'POSITION': g.accessor([[0.1, 0, 0]] * len(BAR_POSITIONS))}]
    g.doc['meshes'][0]['weights'] = [0]
    g.clip((2, 'weights', [0, 1], [0, weight]), name='grow')
    return g.save(ctx.tmp / 'morphed.gltf')


def test_cpu_alone_counts_moments_and_vertices(ctx):
    # bend has keys at 0, 0.5 and 1 s, slide at 0.5 and 2 s. The grid has the rest of 8 moments, five and six: 0, 0.25,
    # 0.5, 0.75, 1 s, among them all keys, and 0, 0.4, 0.8, 1.2, 1.6, 2 s, among them one key.
    info = verify(ctx, ctx.gltf(), '--device', 'cpu', '--samples', '8')
    entry, = info['files']
    backend, = entry['backends']
    assert info['within'] and entry['within'] and info['no_device'] is None and info['verified'] == 1
    assert entry['clips'] == 2 and entry['samples'] == 8 and entry['vertices'] == 6 and not entry['cooked']
    assert entry['moments'] == 1 + 5 + 7, entry['moments']
    assert backend['name'] == 'cpu-scalar' and backend['reference'] and backend['device']['type'] == 'cpu'
    assert backend['positions']['compared'] == 0 and backend['boxes']['compared'] == 13
    assert backend['previous_positions']['compared'] == 13 and backend['conservative_boxes']['compared'] == 13
    assert all(backend[check]['failed'] == 0 for check in CHECKS)


def test_every_kernel_of_the_processor_is_a_backend(ctx):
    isas = ctx.json('bench --scenes skin4k --vertices 64 --runs 1 --json --isa neon')['isas']
    assert isas[-1] == 'scalar'
    assert ctx.pelt('gen octopus --vertices 2000 -o octopus.glb').rc == 0
    assert ctx.pelt('gen wide --vertices 300 -o wide.glb').rc == 0
    for packing in ([], ['--keep-order', '--weights', 'plain'], ['--direct-joints', '--morph16']):
        info = verify(ctx, morphed(ctx, 1), 'octopus.glb', 'wide.glb', '--device', 'cpu', '--samples', '5', *packing, isa='neon')
        assert info['within'] and info['verified'] == 3
        for entry in info['files']:
            assert [b['name'] for b in entry['backends']] == ['cpu-' + isa for isa in reversed(isas)]
            assert [b['reference'] for b in entry['backends']] == [True] + [False] * (len(isas) - 1)
            for backend in entry['backends'][1:]:
                assert backend['positions']['compared'] == entry['vertices'] * entry['moments']
                assert all(backend[check]['failed'] == 0 for check in CHECKS)
                # The moment after the first one swaps packed streams and unpacked ones; the history must not care.
                assert backend['previous_positions']['compared'] == entry['primitives'] * entry['moments']


def test_kernels_over_the_cap_are_no_backends(ctx):
    info = verify(ctx, ctx.gltf(), '--device', 'cpu', '--samples', '3')
    assert [b['name'] for b in info['files'][0]['backends']] == ['cpu-scalar']


def test_cpu_alone_in_text(ctx):
    ctx.gltf()
    result = ctx.pelt('verify bar.gltf --device cpu --samples 4 --isa scalar')
    assert result.rc == 0, result.err
    ctx.golden('verify_bar.txt', result.out)


def test_devices_agree_with_the_cpu(ctx):
    assert ctx.pelt('gen octopus --vertices 2000 -o octopus.glb').rc == 0
    info = with_device(ctx, verify(ctx, ctx.gltf(), 'octopus.glb', '--samples', '6'))
    assert info['within'] and info['verified'] == 2 and len(info['files']) == 2
    for entry in info['files']:
        reference, *devices = entry['backends']
        assert devices and reference['reference'] and entry['failure'] is None
        for backend in devices:
            assert not backend['reference'] and backend['within'] and backend['device']['driver']
            assert backend['device']['index'] is not None and backend['device']['vulkan'].startswith('1.')
            assert backend['positions']['compared'] == entry['vertices'] * entry['moments']
            assert backend['normals']['compared'] == entry['vertices'] * entry['moments']
            assert backend['boxes']['compared'] == entry['primitives'] * entry['moments']
            assert backend['conservative_boxes']['compared'] == entry['primitives'] * entry['moments']
            assert backend['previous_positions']['compared'] == entry['primitives'] * entry['moments']
            assert backend['positions']['largest_share'] <= 1e-6
            # Codes of normals are not exact, so some angle must show.
            assert backend['normals']['largest_degrees'] < 0.01
    octopus = info['files'][1]['backends'][1]
    assert octopus['normals']['largest_degrees'] > 0.0005 and octopus['tangents']['largest_degrees'] > 0.0005
    assert octopus['handedness']['compared'] == octopus['tangents']['compared'] > 0
    assert octopus['positions']['largest'] > 0 and octopus['positions']['place']['file'] == 'octopus.glb'
    worst = info['worst'][1]
    assert worst['positions']['largest_share'] == octopus['positions']['largest_share']
    assert worst['boxes']['compared'] == sum(e['backends'][1]['boxes']['compared'] for e in info['files'])


def test_every_packing_is_verified(ctx):
    assert ctx.pelt('gen wide --vertices 300 -o wide.glb').rc == 0
    source = morphed(ctx, 1)
    for options in (['--keep-order'], ['--weights', 'plain', '--direct-joints', '--morph16']):
        info = with_device(ctx, verify(ctx, source, 'wide.glb', '--samples', '3', *options))
        assert info['within'] and info['verified'] == 2


def test_differences_over_the_tolerance_are_a_negative_verdict(ctx):
    assert ctx.pelt('gen octopus --vertices 2000 -o octopus.glb').rc == 0
    info = verify(ctx, 'octopus.glb', '--samples', '3', '--device', 'cpu', '--tolerance', '0')
    assert info['within'] and info['tolerance'] == 0
    if verify(ctx, ctx.gltf(), '--samples', '2')['no_device']:
        ctx.skip('no Vulkan device')
    info = verify(ctx, 'octopus.glb', '--samples', '3', '--tolerance', '0', rc=1)
    backend = info['files'][0]['backends'][1]
    assert not info['within'] and not info['files'][0]['within'] and not backend['within']
    positions = backend['positions']
    assert 0 < positions['failed'] < positions['compared'] and positions['explained'] == 0
    assert positions['place']['mesh'] == 0 and positions['place']['vertex'] < 2100
    assert backend['boxes']['failed'] == 0 and backend['previous_positions']['failed'] == 0
    result = ctx.pelt('verify octopus.glb --samples 3 --tolerance 0')
    assert result.rc == 1 and 'over tolerance' in result.out and '  wrong: ' in result.out, result.out
    assert 'all within tolerance' not in result.out


def posed(ctx, source, clip, time, *device):
    """Positions as `pose` exports them, and their scale: the larger of the diagonal and the largest coordinate"""
    moment = [] if clip is None else ['--clip', '#%d' % clip, '--time', repr(time)]
    assert ctx.pelt(['pose', source, '-o', 'posed.npz', '--force', *moment, *device]).rc == 0
    primitive, = read.npz_primitives(ctx.tmp / 'posed.npz', (3,))
    points = primitive['positions']
    sides = [(min(column), max(column)) for column in zip(*points)]
    return points, max(math.dist(*zip(*sides)), max(abs(x) for side in sides for x in side))


def on_device(info):
    """The first backend that is not the CPU."""
    return next(b for b in info['files'][0]['backends'] if b['device']['index'] is not None)


def test_figures_are_those_of_the_exported_positions(ctx):
    assert ctx.pelt('gen octopus --vertices 2000 -o o.glb').rc == 0 and ctx.pelt('cook o.glb -o o.pelt').rc == 0
    # Two samples a clip: its first key and its end.
    ends = [(k, clip['duration']) for k, clip in enumerate(ctx.json('inspect --json o.pelt')['clips'])]
    moments = [(None, 0)] + [(k, time) for k, end in ends for time in (0, end)]
    device = ('--device', test_devices.real_device(ctx))
    for tolerance, rc in (('1e-6', 0), ('0', 1)):
        info = verify(ctx, 'o.pelt', '--samples', '2', '--tolerance', tolerance, *device, rc=rc)
        found = on_device(info)['positions']
        distances, shares, worst = [], [], {}
        for clip, time in moments:
            here, scale = posed(ctx, 'o.pelt', clip, time, '--isa', 'scalar')
            there, _ = posed(ctx, 'o.pelt', clip, time, *device)
            apart = [math.dist(p, q) for p, q in zip(here, there)]
            distances += apart
            shares += [d / scale for d in apart]
            worst[clip, time] = [d / scale for d in apart]
        assert found['compared'] == len(distances) and max(distances) > 0
        expected = {'largest': max(distances), 'largest_share': max(shares),
                    'rms': math.hypot(*distances) / math.sqrt(len(distances)),
                    'rms_share': math.hypot(*shares) / math.sqrt(len(shares))}
        for key, value in expected.items():
            assert math.isclose(found[key], value, rel_tol=1e-6), (key, found[key], value)
        place = found['place']
        assert math.isclose(worst[place['clip'], place['time'] or 0][place['vertex']], max(shares), rel_tol=1e-6), place
        assert found['failed'] == (sum(d > 0 for d in distances) if tolerance == '0' else 0)


def test_no_tolerance_allows_no_rounding_of_matrices(ctx):
    # Turning by 120 degrees in two steps: the world matrices are not floats, so palettes made from floats differ.
    g = bar()
    g.clip((1, 'rotation', [0, 1], [[0, 0, 0, 1], [0, 0, math.sqrt(.75), .5]]))
    source = g.save(ctx.tmp / 'turned.gltf')
    info = with_device(ctx, verify(ctx, source, '--samples', '40'))
    positions = on_device(info)['positions']
    if positions['largest'] == 0:
        ctx.skip('the device is as exact as the CPU here')
    found = on_device(verify(ctx, source, '--samples', '40', '--tolerance', '0', rc=1))['positions']
    assert found['failed'] > 0 and found['explained'] == 0 and found['place']['clip'] == 0
    assert found['largest'] == positions['largest']


def test_devices_of_one_name_are_told_apart(ctx):
    # One driver named twice makes two devices of the same name.
    listed = ctx.json('devices --json')
    lavapipe = [d for d in listed['devices'] if d['driver'] == 'llvmpipe']
    manifests = glob.glob('/usr/share/vulkan/icd.d/lvp_icd*.json')
    if not lavapipe or not manifests:
        ctx.skip('there is no lavapipe')
    copy = ctx.tmp / 'copy.json'
    copy.write_text(json.dumps(json.load(open(manifests[0]))))
    files = '%s:%s' % (manifests[0], copy)
    env = {'VK_DRIVER_FILES': files, 'VK_ICD_FILENAMES': files}
    ctx.gltf()
    _, one, two = verify(ctx, 'bar.gltf', '--samples', '2', env=env)['files'][0]['backends']
    assert one['name'].startswith('device 0, ') and two['name'] == one['name'].replace('device 0', 'device 1')
    ctx.fails(['verify', 'bar.gltf', '--device', 'lavapipe'], 6, '2 devices answer to "lavapipe"', env=env)


def test_a_device_that_lacks_something_is_left_out(ctx):
    ctx.gltf()
    info = verify(ctx, 'bar.gltf', '--samples', '2', env=test_devices.made_up(ctx, 'discrete:address'))
    assert info['within'] and info['no_device'] and len(info['files'][0]['backends']) == 1
    warning, = info['warnings']
    assert warning['message'] == 'device 0, Fake discrete A, is left out: it lacks bufferDeviceAddress'


def test_without_a_driver_the_cpu_is_verified_and_the_output_says_so(ctx):
    ctx.gltf()
    info = verify(ctx, 'bar.gltf', '--samples', '3', env=NO_DRIVER)
    assert info['within'] and info['no_device'] and len(info['files'][0]['backends']) == 1
    result = ctx.pelt('verify bar.gltf --samples 3', env=NO_DRIVER)
    assert result.rc == 0 and result.out.startswith('no Vulkan device, the CPU alone is verified: '), result.out
    for device in ('gpu', '0', 'some name'):
        ctx.fails(['verify', 'bar.gltf', '--device', device], 6, device, env=NO_DRIVER)
    assert ctx.pelt('verify bar.gltf --samples 3 --device cpu', env=NO_DRIVER).out.startswith('bar.gltf: ')


def test_absent_device_is_named(ctx):
    ctx.gltf()
    for device in ('4000', 'no such device'):
        ctx.fails(['verify', 'bar.gltf', '--device', device], 6, device)


def test_a_bad_file_among_others_is_told_and_skipped(ctx):
    good = ctx.gltf()
    (ctx.tmp / 'bad.gltf').write_text('{"asset": {"version": "2.0"}, "nodes": [{"children": [0]}]}')
    options = ('--device', 'cpu', '--samples', '2')
    info = verify(ctx, good, 'bad.gltf', 'absent.glb', good, *options, rc=4)
    assert info['verified'] == 2 and info['within']
    failures = [entry['failure'] and entry['failure']['code'] for entry in info['files']]
    assert failures == [None, 4, 3, None]
    assert info['files'][1]['file'] == 'bad.gltf' and 'backends' not in info['files'][1]
    result = ctx.fails(['verify', 'absent.glb', good, *options], 3, 'absent.glb')
    assert 'worst of 1 of 2 files' in result.out and 'all within tolerance' in result.out
    error = ctx.json(['verify', 'bad.gltf', '--json', *options], rc=4)
    assert error['schema'] == 'pelt/error/1'


def test_cooked_file_is_taken_as_it_is(ctx):
    ctx.gltf()
    assert ctx.pelt('cook bar.gltf --weights plain -o bar.pelt').rc == 0
    info = verify(ctx, 'bar.pelt', '--device', 'cpu', '--samples', '2', '--keep-order')
    assert info['files'][0]['cooked'] and info['within']
    assert any('no effect' in w['message'] for w in info['warnings'])
    assert not verify(ctx, 'bar.pelt', '--device', 'cpu', '--samples', '2')['warnings']


def test_conservative_boxes_beyond_their_morph_range_are_not_judged(ctx):
    source = morphed(ctx, 3)
    options = ('--device', 'cpu', '--samples', '8')

    def boxes(*more):
        return verify(ctx, source, *options, *more)['files'][0]['backends'][0]['conservative_boxes']

    # Weights 0, 0.6, 1.2, 1.8, 2.4 and 3 in the clip, and 0 at rest.
    found = boxes()
    assert found['compared'] == 7 and found['unjudged'] == 4 and found['failed'] == 0, found
    assert boxes('--morph-range', '0:3.01')['unjudged'] == 0
    assert boxes('--morph-range', '2:3.01')['unjudged'] == 5
    assert 'not judged on cpu-scalar: ' in ctx.pelt(['verify', source, *options]).out


def test_too_large_models_say_nothing_of_a_backend(ctx):
    g = Gltf()
    inner = g.node(mesh=g.mesh(g.primitive(TRIANGLE)), scale=[1e30] * 3)
    g.node(root=True, children=[inner], scale=[1e30] * 3)
    ctx.fails(['verify', g.save(ctx.tmp / 'huge.gltf'), '--device', 'cpu'], 4, 'not finite in the rest pose', 'node 0')


def test_an_empty_scene_has_nothing_to_verify(ctx):
    g = Gltf()
    g.node(root=True)
    info = verify(ctx, g.save(ctx.tmp / 'empty.gltf'))
    assert info['within'] and info['files'][0]['primitives'] == 0
    assert any('nothing to verify' in w['message'] for w in info['warnings'])
    result = ctx.pelt('verify empty.gltf --device cpu')
    assert result.out.startswith('empty.gltf: 0 primitives, 0 vertices; the rest pose, as there are no clips; ')


def test_limits_and_mistakes(ctx):
    ctx.gltf()
    ctx.fails('verify bar.gltf --device cpu --max-vertices 5', 7, '--max-vertices')
    ctx.fails('verify', 2, 'verify needs a FILE')
    ctx.fails('verify bar.gltf --samples 1', 2, '--samples takes a whole number from 2')
    ctx.fails('verify bar.gltf --tolerance -1', 2, '--tolerance takes a number from 0')
    ctx.fails('verify bar.gltf -o out.glb', 2, 'verify takes no option --output')

