#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes tables of docs/benchmarks.md from what `pelt_bench_ozz --json` printed.

usage: bench_ozz_table.py OZZ.json [--write FILE]

Prints Markdown; --write puts it between two marks in FILE instead, which name the folder of OZZ.json.
"""
import argparse
import json
import os

from bench_table import by_name, put, table

MARK = '<!-- pelt_bench_ozz, %s: %s -->'
TITLES = {'avx512': 'AVX-512', 'avx2': 'AVX2', 'sse2': 'SSE2', 'neon': 'NEON'}
# A row's title, None for the scene's, and what the library is compared with in it.
PAIRS = [(None, 'ozz', 'ozz, inverse transposes'),
         ('the same, ozz with a job for each number', 'ozz, a job for each number of influences', 'ozz, the same, inverse transposes')]


def median(c):
    return '%.2f' % c['ns']['median'] if c else '–'


def compared(c, ozz, transposed=None):
    ratios = ['**%.2fx**' % (ozz['ns']['median'] / c['ns']['median'])]
    if transposed:
        ratios.append('%.2fx' % (transposed['ns']['median'] / c['ns']['median']))
    return '%s (%s)' % (median(c), ', '.join(ratios))


def skin_rows(scene, isas):
    of = by_name(scene)
    best, boxless = of[isas[0]], of[isas[0] + ', no box']
    box = '%+.1f %%' % (100 * (best['ns']['least'] / boxless['ns']['least'] - 1))
    for title, name, transposed_name in PAIRS:
        ozz, transposed = of.get(name), of.get(transposed_name)
        if ozz:
            yield ([title or scene['text'], median(ozz), median(transposed)] +
                   [compared(of[isa], ozz, transposed) for isa in isas] + [box])


def skeleton_row(scene, isas):
    of = by_name(scene)
    kinds = ['%s, %s' % (isa, precision) for isa in isas for precision in ('float', 'double')]
    return [scene['text'], median(of['ozz'])] + [compared(of[kind], of['ozz']) for kind in kinds]


def tables(bench):
    isas = [isa for isa in bench['isas'] if isa != 'scalar']
    skins = [s for s in bench['scenes'] if s['element'] == 'vertex']
    skeletons = [s for s in bench['scenes'] if s['element'] == 'joint']
    titles = [TITLES.get(isa, isa) for isa in isas]
    out = []
    if skins:
        head = ['case', 'ozz', 'ozz, inverse transposes'] + titles + ['box']
        out += ['ns per vertex:', ''] + table(head, [row for s in skins for row in skin_rows(s, isas)])
    if skeletons:
        head = ['joints, skeletons', 'ozz'] + ['%s, %s' % (t, p) for t in titles for p in ('float', 'double')]
        out += ['ns per joint, from local transforms to palettes:', ''] + table(head, [skeleton_row(s, isas) for s in skeletons])
    return '\n'.join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bench')
    parser.add_argument('--write')
    arguments = parser.parse_args()
    with open(arguments.bench, encoding='utf-8') as f:
        text = tables(json.load(f))
    if arguments.write:
        machine = os.path.basename(os.path.dirname(os.path.abspath(arguments.bench)))
        put(arguments.write, MARK % (machine, 'begin'), MARK % (machine, 'end'), text)
    else:
        print(text)


if __name__ == '__main__':
    main()
