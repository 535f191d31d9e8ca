#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables of `pelt bench` in docs/benchmarks.md from its JSON.

usage: bench_table.py BENCH.json [--instructions RECORD.json] [--write FILE]

BENCH.json is what `pelt bench --json` printed, RECORD.json what tests/instructions/run.py records (bench/results/instructions.json).
Prints Markdown; --write puts it between the two marks in FILE instead.
"""
import argparse
import json
import sys

BEGIN, END = '<!-- pelt bench: begin -->', '<!-- pelt bench: end -->'


def table(head, rows):
    lines = [head, ['---'] * len(head)] + rows
    return [''.join('| %s ' % cell for cell in line) + '|' for line in lines] + ['']


def put(path, begin, end, text):
    """Puts text between two marks of a page, in place of what was there."""
    with open(path, encoding='utf-8') as f:
        page = f.read()
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit('%s lacks the marks %s and %s' % (path, begin, end))
    before, rest = page.split(begin)
    with open(path, 'w', encoding='utf-8') as f:
        f.write('%s%s\n\n%s%s%s' % (before, begin, text, end, rest.split(end)[1]))


def by_name(scene):
    return {c['name']: c for c in scene['contenders']}


def spread(c):
    return '%.1f %%' % (100 * (c['ns']['quartiles'][1] - c['ns']['quartiles'][0]) / c['ns']['median'])


def cell(c, digits=2):
    """ns, and how many times as fast as the plain structure."""
    if c is None:
        return '–'
    text = '%.*f' % (digits, c['ns']['median'])
    return text + (' (%.1fx)' % c['times_baseline'] if c['times_baseline'] and c['role'] == 'kernel' else '')


def ceiling(scene, threads=1):
    found = [c for c in scene['contenders'] if c['role'] == 'ceiling' and c['threads'] == threads]
    return min(found, key=lambda c: c['ns']['median'])


def skin_table(scenes, isas):
    rows = []
    for scene in scenes:
        of = by_name(scene)
        best = of[isas[0]]
        rows.append([scene['name'], format(scene['elements'], ','), '%.0f + %.0f' % (scene['bytes_read'], scene['bytes_written'])] +
                    [cell(of.get(isa)) for isa in isas] + [cell(of.get('plain')), cell(ceiling(scene)),
                                                          '%.0f %%' % (100 * best['share_of_ceiling']), spread(best)])
    return table(['scene', 'vertices', 'bytes'] + isas + ['plain', 'copy', 'share of copy', 'spread'], rows)


def box_table(scenes, isas):
    rows = []
    for scene in scenes:
        of = by_name(scene)
        boxless = of.get(isas[0] + ', no box')
        if boxless:
            cost = of[isas[0]]['ns']['median'] / boxless['ns']['median'] - 1
            rows.append([scene['name'], cell(of[isas[0]], 3), cell(boxless, 3), '%.1f %%' % (100 * cost)])
    return table(['scene', 'with the box', 'without', 'the box costs'], rows) if rows else []


def thread_table(scenes, isas):
    rows = []
    for scene in scenes:
        kernels = [c for c in scene['contenders'] if c['role'] == 'kernel']
        if len(kernels) < 2:
            continue
        one, many = kernels
        rows.append([scene['name'], format(scene['elements'], ','), '%.3f' % one['ns']['median'], str(many['threads']),
                     '%.3f' % many['ns']['median'], '%.2fx' % (one['ns']['median'] / many['ns']['median']),
                     '%.2fx' % (ceiling(scene)['ns']['median'] / ceiling(scene, many['threads'])['ns']['median'])])
    return table(['scene', 'vertices', 'one thread', 'threads', 'with them', 'gain', 'gain of copies'], rows) if rows else []


def skeleton_table(scenes, isas):
    rows = []
    for scene in scenes:
        of = by_name(scene)
        rows.append([scene['name'], format(scene['instances'], ',')] + [cell(of.get(isa + ', float')) for isa in isas] +
                    [cell(of.get(isas[0] + ', double')), cell(of.get(isas[0] + ', poses')), cell(of.get('plain'))])
    head = ['scene', 'skeletons'] + ['%s, float' % isa for isa in isas]
    return table(head + ['%s, double' % isas[0], '%s, poses' % isas[0], 'plain'], rows)


def instruction_table(counts):
    parts = [name.split('/') for name in counts]
    order = [isa for isa in ('avx512', 'avx2', 'sse2', 'neon', 'scalar') if any(p[1] == isa for p in parts)]
    cases = sorted({(p[0], p[2]) for p in parts})
    rows = []
    for group, case in cases:
        values = [counts.get('/'.join((group, isa, case))) for isa in order]
        rows.append(['%s, %s' % (group, case)] + ['–' if v is None else '%.1f' % v for v in values])
    return table(['call'] + order, rows)


def tables(bench, record):
    isas = bench['isas']
    skins = [s for s in bench['scenes'] if s['element'] == 'vertex']
    threaded = [s for s in skins if s['name'].startswith('threads')]
    single = [s for s in skins if s not in threaded]
    skeletons = [s for s in bench['scenes'] if s['element'] == 'joint']
    out = ['%s, %s, medians of %d runs.' % (bench['processor'] or 'processor unknown', bench['compiler'], bench['runs']), '']
    if single:
        out += ['ns per vertex:', ''] + skin_table(single, isas) + box_table(single, isas)
    if threaded:
        out += thread_table(threaded, isas)
    if skeletons:
        out += ['ns per joint, from local transforms to palettes:', ''] + skeleton_table(skeletons, isas)
    for compiler, counts in (record or {'compilers': {}})['compilers'].items():
        out += ['Instructions per vertex or joint, %s:' % compiler, ''] + instruction_table(counts)
    return '\n'.join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bench')
    parser.add_argument('--instructions')
    parser.add_argument('--write')
    arguments = parser.parse_args()
    with open(arguments.bench, encoding='utf-8') as f:
        bench = json.load(f)
    record = None
    if arguments.instructions:
        with open(arguments.instructions, encoding='utf-8') as f:
            record = json.load(f)
    text = tables(bench, record)
    if not arguments.write:
        print(text)
        return 0
    put(arguments.write, BEGIN, END, text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
