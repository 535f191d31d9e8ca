# SPDX-License-Identifier: MIT
"""`pelt bench --device` runs to the end with tiny sizes on the Vulkan device there is, says what it measured, and keeps to
Vulkan's rules: the validation layer, where it is installed, prints among the JSON. Times are never judged. That a device
without timestamps is refused cannot be tested here: none is at hand, and the made-up ones of test_devices.py cannot skin."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

from test_devices import real_device

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / 'scripts' / 'bench_gpu_table.py'
LAYER = 'VK_LAYER_KHRONOS_validation'
FOLDERS = ['/usr/share', '/usr/local/share', '/etc', os.path.expanduser('~/.local/share')]
TINY = ['--runs', '1', '--vertices', '24']
DRAWS = ('vertex_shader', 'draw_skinned')
OWN = ['pelt', 'pelt_new_list', 'pelt_no_box', 'pelt_joint_boxes']


def validated(ctx):
    """Environment in which every call is checked"""
    found = [f for folder in FOLDERS for f in pathlib.Path(folder).glob('vulkan/explicit_layer.d/*validation*.json')]
    assert found or not os.environ.get('PELT_TEST_REQUIRE_VALIDATION'), 'the validation layer is not installed'
    return {'VK_INSTANCE_LAYERS': LAYER} if found else {}


def bench(ctx, *words, device=None, sizes=TINY):
    words = ['bench', '--json', '--quiet', '--device', device or real_device(ctx), *sizes, *words]
    result = ctx.pelt(words, env=validated(ctx), timeout=600)
    assert result.rc == 0 and result.err == '' and result.out.startswith('{'), result.err + result.out[:2000]
    info = json.loads(result.out)
    assert info['schema'] == 'pelt/bench-gpu/1'
    return info


def listed(ctx):
    return ctx.json('bench --list --json')


def check_times(t):
    assert 0 < t['least'] <= t['quartiles'][0] <= t['median'] <= t['quartiles'][1] <= t['most'], t


def close(a, b):
    return abs(a - b) <= 1e-6 * abs(b)


def check_scene(scene, memory):
    assert scene['skipped'] is None, scene
    least = scene['bytes_read'] + scene['bytes_written']
    for c in scene['contenders']:
        where = (scene['name'], c['name'])
        assert c['skipped'] is None, (where, c['skipped'])
        check_times(c['ms'])
        ms = c['ms']['median']
        assert close(c['vertices_per_s'], scene['vertices'] / ms * 1e3), where
        if c['name'].startswith(DRAWS):
            assert c['gb_per_s'] is c['share_of_copy'] is c['share_of_fill'] is None, where
        else:
            assert close(c['gb_per_s'], least * scene['vertices'] / ms * 1e-6), where
            assert close(c['share_of_copy'], c['gb_per_s'] / memory['copy_gb_per_s']), where
            assert close(c['share_of_fill'], c['gb_per_s'] / memory['fill_gb_per_s']), where
        assert c['passes'] == (4 if c['name'].endswith('_x4') else 1), where
        assert c['requested_bytes'] > 0, where
        assert (c['role'] == 'library') == (c['name'] in OWN) and (c['update_ms'] is not None) == (c['name'] in OWN)
        if c['update_ms']:
            check_times(c['update_ms'])
            # Of one run the whole contains its part.
            assert c['update_ms']['median'] >= ms, where
            done = c['statistics']
            # Palettes, skinning, and what boxes take beside it; a list of slices that is kept takes no dispatch.
            passes = 2 + (done['reduced'] > 0) + (c['name'] == 'pelt_joint_boxes')
            assert done['items'] >= scene['instances'] and done['dispatches'] >= passes, where
            assert done['barriers'] >= 3 + (done['reduced'] > 0), where
            # Every world matrix is written anew.
            assert done['written_bytes'] >= 48 * scene['matrices'], where
        else:
            assert c['statistics'] is None, where


def test_every_scene_and_every_contender_runs_to_the_end(ctx):
    known = listed(ctx)
    contenders = [c['name'] for c in known['gpu_contenders']]
    info = bench(ctx)
    assert info['runs'] == 1 and info['file'] is None and info['device']['name'] and info['device']['driver']
    wanted = [s for s in known['gpu_scenes'] if s['by_default'] and not s['needs_file']]
    assert [s['name'] for s in info['scenes']] == [s['name'] for s in wanted]
    assert [s['name'] for s in wanted] == ['crowd', 'unique', 'one1M', 'one20k', 'tiny200', 'tiny64', 'horde']
    for scene, entry in zip(info['scenes'], wanted):
        assert [c['name'] for c in scene['contenders']] == contenders and contenders[:len(OWN)] == OWN
        check_scene(scene, info['memory'])
        one = scene['name'] in ('crowd', 'one1M', 'one20k', 'horde')
        assert scene['meshes'] == (1 if one else scene['instances']) and scene['joints'] == entry['joints']
        assert scene['vertices'] == 24 * scene['instances'] and scene['mesh_vertices'] == 24 * scene['meshes']
        assert scene['matrices'] == scene['joints'] * scene['instances']
        assert scene['previous_positions'] == (scene['name'] == 'horde')
        # Positions 12, normals, tangents, weights and joints 4 each; written are those but the last two, and a box.
        assert close(scene['bytes_read'], 28 * scene['meshes'] / scene['instances']), scene['name']
        assert close(scene['bytes_written'], 20 + 24 / 24), scene['name']
        assert scene['against'] == ('fill' if scene['bytes_written'] > 2 * scene['bytes_read'] else 'copy')


def test_break_even_is_where_once_and_drawing_meet_skinning_in_each_pass(ctx):
    names = ['pelt', 'vertex_shader', 'draw_skinned', 'vertex_shader_x4', 'draw_skinned_x4']
    scene, = bench(ctx, '--scenes', 'one20k', '--contenders', ','.join(names), sizes=['--runs', '1'])['scenes']
    assert [c['name'] for c in scene['contenders']] == names
    pelt, skins, draws, skins4, draws4 = (c['ms']['median'] for c in scene['contenders'])
    gained = (skins4 - skins) / 3 - (draws4 - draws) / 3
    if gained > 0:
        assert close(scene['break_even_passes'], pelt / gained)
    else:
        assert scene['break_even_passes'] is None
    assert bench(ctx, '--scenes', 'one20k', '--contenders', 'pelt')['scenes'][0]['break_even_passes'] is None


def test_scenes_of_one_size_run_when_they_are_named(ctx):
    names = [s['name'] for s in listed(ctx)['gpu_scenes'] if s['name'].startswith('size')]
    assert names == ['size' + n for n in '16 32 64 128 256 512 1k 4k 16k 64k 256k 1M'.split()]
    info = bench(ctx, '--scenes', 'size*', '--contenders', 'pelt,pelt_joint*', sizes=['--runs', '1', '--vertices', '3'])
    assert [s['name'] for s in info['scenes']] == names
    for scene in info['scenes']:
        assert [c['name'] for c in scene['contenders']] == ['pelt', 'pelt_joint_boxes']
        check_scene(scene, info['memory'])
        assert scene['meshes'] == scene['instances'] and scene['vertices'] == 3 * scene['meshes']


def test_memory_is_measured_by_commands_and_by_a_shader(ctx):
    memory = bench(ctx, '--scenes', 'one20k', '--contenders', 'pelt')['memory']
    assert [m['name'] for m in memory['moves']] == ['copy', 'copy by shader', 'fill', 'fill by shader']
    for move in memory['moves']:
        check_times(move['ms'])
        assert move['bytes'] == memory['buffer_bytes'] * (2 if 'copy' in move['name'] else 1)
        assert close(move['gb_per_s'], move['bytes'] / move['ms']['median'] * 1e-6)
    rates = [m['gb_per_s'] for m in memory['moves']]
    assert memory['copy_gb_per_s'] == max(rates[:2]) and memory['fill_gb_per_s'] == max(rates[2:])


def test_a_file_is_copied_until_there_are_enough_vertices(ctx):
    assert ctx.pelt('gen octopus --vertices 6000 -o octopus.glb').rc == 0
    vertices = ctx.json('gen octopus --vertices 6000 --json -o again.glb')['vertices']
    info = bench(ctx, 'octopus.glb', '--contenders', 'pelt*')
    scene, = info['scenes']
    assert scene['name'] == 'file' and info['file'] == 'octopus.glb'
    check_scene(scene, info['memory'])
    if info['device']['software']:
        copies = 100000 // (vertices + 1)
        assert scene['vertices'] == copies * vertices and scene['instances'] == copies and scene['meshes'] == 1
    # The bar has no tangents and the wide one more influences than four, which the published designs do not take.
    assert ctx.pelt('gen wide --vertices 2000 -o wide.glb').rc == 0
    for path in (ctx.gltf(), 'wide.glb'):
        scene, = bench(ctx, path)['scenes']
        for c in scene['contenders']:
            if c['name'] in OWN:
                check_times(c['ms'])
            else:
                assert c['skipped'].startswith('it takes') and c['ms'] is None and c['gb_per_s'] is None


def test_a_scene_that_no_contender_takes_is_left_out_with_the_reason(ctx):
    assert ctx.pelt('gen wide --vertices 200 -o wide.glb').rc == 0
    scene, = bench(ctx, 'wide.glb', '--contenders', 'groups,atomics')['scenes']
    assert scene['skipped'] == 'it takes four influences at most'
    assert all(c['skipped'] == scene['skipped'] and c['ms'] is None for c in scene['contenders'])
    words = ['bench', '--quiet', '--device', real_device(ctx), 'wide.glb', '--contenders', 'groups', *TINY]
    assert 'left out: it takes four influences at most' in ctx.pelt(words).out


def made_up(name, size, milliseconds, against='copy'):
    """A scene of 1,000 meshes with given times"""
    contenders = [{'name': n, 'role': 'library' if n in OWN else 'baseline', 'passes': 1, 'skipped': None,
                   'ms': {'median': ms}, 'update_ms': {'median': 2 * ms} if n in OWN else None,
                   'vertices_per_s': 1e6 * size / ms, 'requested_bytes': 50, 'share_of_copy': 0.5, 'share_of_fill': 0.25}
                  for n, ms in milliseconds.items()]
    contenders.append({'name': 'groups', 'role': 'baseline', 'passes': 1, 'skipped': 'no room', 'ms': None, 'update_ms': None})
    return {'name': name, 'skipped': None, 'vertices': 1000 * size, 'instances': 1000, 'bytes_read': 28, 'bytes_written': 20,
            'against': against, 'break_even_passes': 2.5, 'contenders': contenders}


def test_tables_and_plots_of_the_documentation_are_made_from_the_json(ctx):
    info = bench(ctx, '--scenes', 'tiny64,horde')
    times = {'pelt': 2.2, 'pelt_new_list': 2.4, 'pelt_no_box': 2.0, 'pelt_joint_boxes': 3.0, 'atomics': 6.6}
    info['scenes'].append(made_up('known', 100, times, 'fill'))
    info['scenes'].append({'name': 'absent', 'skipped': 'no room', 'contenders': []})
    # Joint boxes cost 2 of 10 more, then 2 of 10 less: equal half way between 64 and 256 on a logarithmic scale.
    sizes = dict(info, scenes=[made_up('size64', 64, {'pelt': 1.0, 'pelt_no_box': 0.8, 'pelt_joint_boxes': 1.2}),
                               made_up('size256', 256, {'pelt': 1.0, 'pelt_no_box': 0.8, 'pelt_joint_boxes': 0.8})])
    (ctx.tmp / 'scenes.json').write_text(json.dumps(info))
    (ctx.tmp / 'sizes.json').write_text(json.dumps(sizes))
    marks = '<!-- pelt bench --device: begin -->\n%s<!-- pelt bench --device: end -->\n'
    (ctx.tmp / 'page.md').write_text('one\n' + marks % 'old\n' + 'two\n')
    command = [sys.executable, SCRIPT, 'scenes.json', 'sizes.json', '--write', 'page.md', '--images', 'plots']
    for _ in range(2):  # again over its own output
        subprocess.run(command, cwd=ctx.tmp, check=True)
        page = (ctx.tmp / 'page.md').read_text()
        assert page.startswith('one\n<!--') and page.endswith('-->\ntwo\n') and 'old' not in page
    assert 'absent' not in page
    rows = [[c.strip() for c in line.split('|')[1:-1]] for line in page.splitlines() if line.startswith('| ')]
    designs = [row for row in rows if row[0] == 'known']
    others = [c['name'] for c in info['scenes'][0]['contenders'] if not c['name'].startswith(('pelt',) + DRAWS)]
    assert designs[0] == ['known', '2.2', '2.4', '4.4'] + ['6.6 (3.0x)' if n == 'atomics' else '–' for n in others] + ['25.0 % of fill']
    assert designs[1] == ['known', '2.2', '2', '3', '10.0 %', '50.0 %']
    assert ['64', '15.6250', '12.5000', '18.7500', '–'] in rows and ['256', '3.9062', '3.1250', '3.1250', '–'] in rows
    assert 'from some 128 vertices a mesh on' in page
    drawn = re.findall(r'\(plots/gpu_(\w+)\.svg\)', page)
    assert drawn == ['designs', 'sizes', 'exact', 'boxes', 'lanes', 'break_even', 'bytes']
    plots = {name: xml.etree.ElementTree.parse(ctx.tmp / 'plots' / ('gpu_%s.svg' % name)).getroot() for name in drawn}
    words = {name: [e.text for e in plot if e.tag.endswith('text')] for name, plot in plots.items()}
    assert '6.6  (3.0x)' in words['designs'] and '2.2  (+10.0 %)' in words['exact']
    assert 'equal at 128 vertices' in words['boxes'] and '2.5' in words['break_even'] and '48' in words['bytes']
    # Exact boxes cost 25 % twice, half way between the 50 % and the 0 % of joint boxes.
    lines = [[float(p.split(',')[1]) for p in e.get('points').split()] for e in plots['boxes'] if e.tag.endswith('polyline')]
    (high, low), (middle, same) = sorted(lines)
    assert high < low and middle == same and abs(2 * middle - high - low) < 0.3
    (ctx.tmp / 'page.md').write_text('no marks\n')
    assert subprocess.run(command, cwd=ctx.tmp, capture_output=True).returncode == 1
    (ctx.tmp / 'scenes.json').write_text('{"schema": "pelt/bench/1"}')
    assert subprocess.run(command[:3], cwd=ctx.tmp, capture_output=True).returncode == 1


def test_lanes_of_the_library_are_those_of_its_workgroups(ctx):
    """1,024 vertices an item at most; 32 threads where items have 256 on average or fewer, else 64, or 128 for few items"""
    script = ('from bench_gpu_plots import lanes, lanes_of_few, wasted\n'
              'print([lanes(n) for n in (1, 32, 200, 256, 257, 1024, 1025)], [lanes_of_few(n) for n in (200, 257, 1025)],'
              '"%.3f" % wasted(lambda n: n + 1, 2))')
    result = subprocess.run([sys.executable, '-c', script], cwd=SCRIPT.parent, capture_output=True, text=True, check=True,
                            env=dict(os.environ, PYTHONDONTWRITEBYTECODE='1'))
    # Of 2 the sizes within half an octave are 2 alone, since 1.41 and 2.83 bound them: a third is wasted.
    assert result.stdout == '[32, 32, 224, 256, 320, 1024, 1088] [224, 384, 1152] 33.333\n', result.stdout


def tune(ctx, *words):
    result = ctx.pelt(['bench', '--tune', '--quiet', '--device', real_device(ctx), '--runs', '1', *words], env=validated(ctx),
                      timeout=600)
    assert result.rc == 0 and result.err == '', result.err
    return result.out


def check_tuned_sizes(info):
    vertices = [s['vertices'] for s in info['sizes']]
    most = 4096 if info['device']['software'] else 1 << 20
    assert vertices == [n for n in (16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576) if n <= most]
    total = most if info['device']['software'] else 4 << 20
    for size in info['sizes']:
        assert size['instances'] == total // size['vertices'] and list(size['ms']) == ['none', 'exact', 'joints']
        for times in size['ms'].values():
            check_times(times)
        none, exact, joints = (size['ms'][k]['median'] for k in ('none', 'exact', 'joints'))
        # One run has no spread, so none is unsure.
        assert size['bounds'] == ('conservative' if exact - joints > 0.03 * none else 'exact'), size


def test_tune_measures_boxes_and_items_and_recommends(ctx):
    info = json.loads(tune(ctx, '--json'))
    assert list(info) == ['schema', 'device', 'runs', 'sizes', 'rules', 'item_vertices', 'warnings']
    assert info['schema'] == 'pelt/tune/1' and info['runs'] == 1 and info['device']['name'] and info['device']['driver']
    check_tuned_sizes(info)
    ends = [r['vertex_count'] for r in info['rules']]
    assert ends == sorted(set(ends)) and ends[-1] == 2 ** 32 - 1
    for size in info['sizes']:
        assert next(r['bounds'] for r in info['rules'] if size['vertices'] <= r['vertex_count']) == size['bounds']
    kinds = [r['bounds'] for r in info['rules']]
    assert all(a != b for a, b in zip(kinds, kinds[1:]))
    items = info['item_vertices']
    assert items['sizes'] == [64, 128, 256, 512, 1024] and [s['name'] for s in items['scenes']] == ['crowd', 'unique', 'tiny200']
    for k, mean in enumerate(items['means']):
        product = 1
        for scene in items['scenes']:
            check_times(scene['ms'][k])
            product *= scene['ms'][k]['median']
        assert close(mean ** 3, product)
    good = [n for n, mean in zip(items['sizes'], items['means']) if mean <= 1.01 * min(items['means'])]
    assert items['best'] == good[-1]


def test_tune_prints_options_that_compile(ctx):
    text = tune(ctx)
    options = text.split('\nas C:\n')[1]
    rules = re.findall(r'\{(\w+), PELT_VK_BOUNDS_(EXACT|CONSERVATIVE)\},', options)
    assert rules and rules[-1][0] == 'UINT32_MAX' and '.bounds_rule_count = %d,' % len(rules) in options
    assert re.search(r'\.item_vertices = (64|128|256|512|1024),', options) and '.bounds = PELT_VK_BOUNDS_AUTO,' in options
    names = [line.split()[0] for line in text.splitlines() if line.startswith('  ') and line.split()]
    assert {'16', '4,096', 'crowd', 'unique', 'tiny200', 'geometric'} <= set(names)
    compiler = shutil.which('cc')
    if compiler:
        (ctx.tmp / 'options.c').write_text('#include <pelt/vulkan.h>\nint main(void)\n{\n%s    return options.item_vertices == 0;\n}\n'
                                           % options)
        subprocess.run([compiler, '-std=c17', '-Wall', '-Werror', '-fsyntax-only', '-I', SCRIPT.parent.parent / 'include', 'options.c'],
                       cwd=ctx.tmp, check=True)


def test_tune_stands_alone(ctx):
    device = real_device(ctx)
    for words in (['--scenes', 'crowd'], ['--contenders', 'pelt'], ['--vertices', '64'], ['--list']):
        ctx.fails(['bench', '--tune', '--device', device, *words], 2, '--tune', words[0], '--device gpu --tune')
    ctx.fails(['bench', '--tune', '--device', device, 'fox.glb'], 2, '--tune', 'FILE')
    for words in ([], ['--device', 'cpu']):
        ctx.fails(['bench', '--tune', *words], 2, '--tune', '--device')
    ctx.fails(['bench', '--tune', '--device', 'no such card'], 6, 'no such card')


def test_options_of_the_processor_are_refused(ctx):
    device = real_device(ctx)
    for words in (['--isa', 'sse2'], ['--threads', '2']):
        for mode in ([], ['--tune']):
            ctx.fails(['bench', '--device', device, *mode, *words], 2, words[0], '--device')
    assert ctx.pelt(['bench', '--list', '--threads', '2']).rc == 0


def test_text_has_a_row_for_each_contender(ctx):
    result = ctx.pelt(['bench', '--quiet', '--device', real_device(ctx), '--scenes', 'tiny64,horde', *TINY])
    assert result.rc == 0 and result.err == '', result.err
    names = [c['name'] for c in listed(ctx)['gpu_contenders']]
    for scene in ('tiny64', 'horde'):
        block = result.out.split('\n' + scene + ': ')[1].split('\n\n')[0]
        rows = [line[2:25].strip() for line in block.splitlines()[4:]]
        assert [row for row in rows if row != 'whole update' and not row.startswith('skinning ')] == names, rows
        assert rows.count('whole update') == len(OWN)


def test_lists_name_scenes_and_contenders(ctx):
    device = real_device(ctx)
    info = bench(ctx, '--scenes', 'tiny*,crowd,crowd', '--contenders', 'pelt_no_box')
    assert [s['name'] for s in info['scenes']] == ['crowd', 'tiny200', 'tiny64']
    assert all([c['name'] for c in s['contenders']] == ['pelt_no_box'] for s in info['scenes'])
    for words in ('none', 'crowd,', 'skin20k', 'zz*'):
        ctx.fails(['bench', '--device', device, '--scenes', words], 2, 'no scene', '--list')
    for words in ('none', 'pelt,', 'Pelt'):
        ctx.fails(['bench', '--device', device, '--contenders', words], 2, 'no contender', '--list')
    ctx.fails(['bench', '--device', device, '--scenes', 'file'], 2, 'scene file needs a FILE')
    ctx.fails(['bench', '--device', device, '--scenes', 'file*'], 2, 'scene file needs a FILE')
    ctx.fails(['bench', '--contenders', 'pelt'], 2, '--contenders is for benches on a Vulkan device')
    text = ctx.pelt('bench --list').out
    for entry in listed(ctx)['gpu_scenes'] + listed(ctx)['gpu_contenders']:
        assert any(line.split()[:1] == [entry['name']] for line in text.splitlines()), entry


def test_what_cannot_be_measured_is_told(ctx):
    ctx.fails(['bench', '--device', 'no such card'], 6, 'no such card')
    ctx.fails(['bench', '--device', 'all'], 2, '--device all is for')
    ctx.fails(['bench', '--device', '99'], 6, '99')
    ctx.fails(['bench', '--device', real_device(ctx), 'absent.glb'], 3, 'absent.glb')
    nothing = ctx.gltf(name='empty.gltf', nodes=[], scenes=[], scene=None, skins=None, animations=None)
    ctx.fails(['bench', '--device', real_device(ctx), nothing], 4, 'empty.gltf')
    error = ctx.json(['bench', '--json', '--device', 'no such card'], rc=6)
    assert error['schema'] == 'pelt/error/1' and error['code'] == 6
