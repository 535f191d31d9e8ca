# SPDX-License-Identifier: MIT
"""`pelt bench` runs to the end with tiny sizes, and says what it measured. Times are never judged."""
import json
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / 'scripts' / 'bench_table.py'

TINY = ['--runs', '1', '--vertices', '300']


def bench(ctx, *words, **keywords):
    info = ctx.json(['bench', '--json', *TINY, *words], **keywords)
    assert info['schema'] == 'pelt/bench/1'
    return info


def names(ctx):
    return [s['name'] for s in ctx.json('bench --list --json')['scenes']]


def check_scene(scene, isas):
    assert scene['elements'] > 0 and scene['bytes_read'] > 0 and scene['bytes_written'] > 0, scene['name']
    contenders = {c['name']: c for c in scene['contenders']}
    assert len(contenders) == len(scene['contenders']), scene['name']
    roles = [c['role'] for c in scene['contenders']]
    assert 'kernel' in roles and 'ceiling' in roles
    for c in scene['contenders']:
        ns = c['ns']
        assert 0 < ns['least'] <= ns['quartiles'][0] <= ns['median'] <= ns['quartiles'][1] <= ns['most'], c
        assert c['gb_per_s'] > 0 and c['share_of_ceiling'] > 0 and c['repeats'] >= 1 and c['threads'] >= 1
        assert (c['isa'] in isas) == (c['role'] == 'kernel')
        if c['role'] == 'ceiling':
            assert c['times_baseline'] is None and c['share_of_ceiling'] <= 1.000001
            # As many bytes as the kernels move, to the next whole line.
            moved = (scene['bytes_read'] + scene['bytes_written']) * scene['elements']
            assert moved <= 2 * c['bytes_read'] * scene['elements'] < moved + 129, c
        elif 'baseline' in roles:
            assert c['times_baseline'] > 0
    if 'baseline' in roles:
        assert abs(contenders['plain']['times_baseline'] - 1) < 1e-9
    return contenders


def test_every_scene_runs_to_the_end(ctx):
    info = bench(ctx, '--threads', '2', timeout=600)
    assert info['device']['type'] == 'cpu' and info['runs'] == 1 and info['threads'] == 2 and info['file'] is None
    assert [s['name'] for s in info['scenes']] == [n for n in names(ctx) if not n.startswith('file')]
    for scene in info['scenes']:
        contenders = check_scene(scene, info['isas'])
        best = info['isas'][0]
        if scene['name'].startswith('skeleton'):
            instances = 1000 if scene['name'].startswith('skeletons') else 1
            joints = int(scene['name'].lstrip('skeletons'))
            assert scene['elements'] == instances * joints and scene['element'] == 'joint'
            assert scene['bytes_read'] == 40 and scene['bytes_written'] == 64
            for isa in info['isas']:
                assert isa + ', float' in contenders and isa + ', double' in contenders
            assert best + ', poses' in contenders
        elif scene['name'].startswith('threads'):
            assert scene['elements'] == 300 and contenders[best]['threads'] == 1
            assert contenders[best + ', 2 threads']['threads'] == 2 and contenders['copy, 2 threads']['threads'] == 2
        else:
            assert scene['elements'] == 300 and scene['element'] == 'vertex' and scene['joints'] == 100
            assert set(info['isas']) <= set(contenders)
    boxless = {s['name'] for s in info['scenes'] if any('no box' in c['name'] for c in s['contenders'])}
    assert boxless == {'skin4k', 'skin20k', 'skin1M', 'positions20k'}


def test_bytes_are_those_of_the_streams(ctx):
    """Read: position 12, normal 12 or 4, tangent 16 or 4, four weights 16 or 4, four joints 8, or 4 in runs."""
    wanted = {'skin20k': (60, 40), 'positions20k': (32, 12), 'normals20k': (44, 24), 'streams20k': (64, 40),
              'strided20k': (64, 40), 'influences8': (80, 40), 'packed20k': (28, 40), 'packedout20k': (28, 20)}
    info = bench(ctx, '--scenes', ','.join(wanted))
    for scene in info['scenes']:
        assert (scene['bytes_read'], scene['bytes_written']) == wanted[scene['name']], scene['name']
        for c in scene['contenders']:
            if c['role'] == 'baseline' and scene['name'].startswith('packed'):
                assert (c['bytes_read'], c['bytes_written']) == (64, 40)


def test_scenes_are_named_by_list_and_star(ctx):
    every = names(ctx)
    assert 'skin4k' in every and 'file' in every
    assert [s['name'] for s in bench(ctx, '--scenes', 'packed20k,skin*')['scenes']] == [
        n for n in every if n == 'packed20k' or n.startswith('skin')]
    assert [s['name'] for s in bench(ctx, '--scenes', 'skin4k,skin4k')['scenes']] == ['skin4k']
    for words in ('none', 'skin4k,', 'skin', 'Skin4k', 'zz*'):
        ctx.fails(['bench', '--scenes', words], 2, 'no scene is named', '--list')
    ctx.fails(['bench', '--scenes', 'file'], 2, 'scene file needs a FILE')
    ctx.fails(['bench', '--scenes', 'file*'], 2, 'scene file needs a FILE')
    text = ctx.pelt('bench --list')
    table = text.out.split('\n\n')[0]
    assert text.rc == 0 and [line.split()[0] for line in table.splitlines()[1:]] == every


def test_a_file_is_measured_as_it_is_and_packed(ctx):
    assert ctx.pelt('gen crowd --count 3 --vertices 800 -o crowd.glb').rc == 0
    assert ctx.pelt('gen wide --vertices 200 -o wide.glb').rc == 0
    assert ctx.pelt('cook crowd.glb -o crowd.pelt').rc == 0
    for path in (ctx.gltf(), 'crowd.glb', 'crowd.pelt', 'wide.glb'):
        info = bench(ctx, path)
        assert [s['name'] for s in info['scenes']] == ['file', 'filepacked'] and info['file'] == str(path)
        for scene in info['scenes']:
            check_scene(scene, info['isas'])
        if str(path).startswith('crowd'):
            assert all(s['primitives'] == 3 and s['bytes_written'] == 40 for s in info['scenes'])
    info = bench(ctx, 'crowd.glb', '--scenes', 'file,skin4k')
    assert [s['name'] for s in info['scenes']] == ['skin4k', 'file']


def test_text_has_a_row_for_each_contender(ctx):
    info = bench(ctx, '--scenes', 'skin20k,skeleton60', '--isa', 'scalar')
    result = ctx.pelt(['bench', '--scenes', 'skin20k,skeleton60', '--isa', 'scalar', *TINY])
    assert result.rc == 0 and result.err == '', result.err
    for scene in info['scenes']:
        block = result.out.split(scene['name'] + ': ')[1].split('\n\n')[0]
        rows = [line[2:31].rstrip() for line in block.splitlines()[4:]]
        assert rows == [c['name'] for c in scene['contenders']], rows


def test_tables_of_the_documentation_are_made_from_the_json(ctx):
    info = bench(ctx, '--scenes', 'skin*,packed20k,threads20k,skeletons60', '--threads', '2')
    (ctx.tmp / 'bench.json').write_text(json.dumps(info))
    (ctx.tmp / 'count.json').write_text('{"compilers": {"cc 1": {"skin/avx2/runs4": 92.76, "skin/scalar/runs4": 815.24}}}')
    (ctx.tmp / 'page.md').write_text('one\n<!-- pelt bench: begin -->\nold\n<!-- pelt bench: end -->\ntwo\n')
    words = [sys.executable, SCRIPT, 'bench.json', '--instructions', 'count.json', '--write', 'page.md']
    for _ in range(2):  # again over its own output
        subprocess.run(words, cwd=ctx.tmp, check=True)
        page = (ctx.tmp / 'page.md').read_text()
        assert page.startswith('one\n<!--') and page.endswith('-->\ntwo\n') and 'old' not in page
    rows = {line.split('|')[1].strip(): [c.strip() for c in line.split('|')[2:-1]] for line in page.splitlines()
            if line.startswith('| ')}
    best = {s['name']: s['contenders'][0] for s in info['scenes']}
    assert rows['packed20k'][:2] == ['300', '28 + 40']
    assert rows['packed20k'][2].split()[0] == '%.2f' % best['packed20k']['ns']['median']
    assert rows['threads20k'][1] == '%.3f' % best['threads20k']['ns']['median']
    assert rows['skeletons60'][1].split()[0] == '%.2f' % best['skeletons60']['ns']['median']
    assert rows['skin, runs4'] == ['92.8', '815.2'] and rows['skin1M'][-1].endswith('%')
    (ctx.tmp / 'page.md').write_text('no marks\n')
    assert subprocess.run(words, cwd=ctx.tmp, capture_output=True).returncode == 1


def test_the_page_has_the_tables_of_the_kept_comparisons_with_ozz(ctx):
    root = SCRIPT.parent.parent
    page = (root / 'docs' / 'benchmarks.md').read_text()
    (ctx.tmp / 'page.md').write_text(page)
    kept = sorted((root / 'bench' / 'results').glob('*/ozz.json'))
    assert len(kept) == page.count('<!-- pelt_bench_ozz, ') / 2 > 1
    for file in kept:
        subprocess.run([sys.executable, SCRIPT.with_name('bench_ozz_table.py'), file, '--write', 'page.md'], cwd=ctx.tmp, check=True)
        assert (ctx.tmp / 'page.md').read_text() == page
    assert page.count('(**') > 70 * len(kept)  # ratios to ozz


def test_one_thread_has_no_threaded_contenders(ctx):
    for threads, count in (('1', 0), ('3', 1)):
        scene, = bench(ctx, '--scenes', 'threads20k', '--threads', threads)['scenes']
        kernels = [c for c in scene['contenders'] if c['role'] == 'kernel' and c['threads'] > 1]
        assert [c['threads'] for c in kernels] == [3] * count


def test_what_cannot_be_measured_is_told(ctx):
    assert bench(ctx, '--scenes', 'skin4k', '--device', 'cpu')['scenes']
    ctx.fails('bench absent.glb', 3, 'absent.glb')
    ctx.fails(['bench', ctx.gltf(name='empty.gltf', nodes=[], scenes=[], scene=None, skins=None, animations=None)], 4, 'empty.gltf')
    ctx.fails('bench --runs 0', 2, '--runs takes a whole number from 1')
    ctx.fails('bench one.glb two.glb', 2, 'one FILE too many')
    error = ctx.json(['bench', '--json', '--scenes', 'none'], rc=2)
    assert error['schema'] == 'pelt/error/1' and error['code'] == 2
