#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables and plots of `pelt bench --device` in docs/benchmarks.md from its JSON.

usage: bench_gpu_table.py SCENES.json [SIZES.json] [--write FILE] [--images FOLDER]

SCENES.json is what `pelt bench --device gpu --json` printed, SIZES.json the same with --scenes 'size*'. Prints Markdown; --write
puts it between the two marks in FILE instead. --images: where the plots go, as SVG; the tables name them by way of FILE's folder.
"""
import argparse
import json
import math
import os
import sys

from bench_table import put, table

BEGIN, END = '<!-- pelt bench --device: begin -->', '<!-- pelt bench --device: end -->'
DRAWS = ('vertex_shader', 'draw_skinned')


def measured(scene):
    return {c['name']: c for c in scene['contenders'] if c['ms']}


def median(c):
    return c['ms']['median'] if c else None


def number(value, digits=4):
    return '–' if value is None else '%.*g' % (digits, value)


def percent(value):
    return '–' if value is None else '%.1f %%' % (100 * value)


def names_of(scenes, draws):
    """Contenders of any scene, in their order."""
    names = []
    for scene in scenes:
        names += [c['name'] for c in scene['contenders'] if c['name'] not in names]
    return [n for n in names if n.startswith(DRAWS) == draws]


# ---- tables

def design_table(scenes):
    names = names_of(scenes, False)
    others = [n for n in names if not n.startswith('pelt')]
    rows = []
    for scene in scenes:
        of = measured(scene)
        pelt = median(of.get('pelt'))
        update = of['pelt']['update_ms']['median'] if pelt else None
        cells = []
        for name in others:
            other = median(of.get(name))
            cells.append('–' if other is None else number(other) + (' (%.1fx)' % (other / pelt) if pelt else ''))
        share = of['pelt']['share_of_' + scene['against']] if pelt else None
        rows.append([scene['name'], number(pelt), number(median(of.get('pelt_new_list'))), number(update)] + cells +
                    ['%s of %s' % (percent(share), scene['against']) if pelt else '–'])
    return table(['ms', 'pelt', 'new list', 'whole update'] + others + ['share'], rows)


def box_table(scenes):
    rows = []
    for scene in scenes:
        of = measured(scene)
        ms = [median(of.get(n)) for n in ('pelt', 'pelt_no_box', 'pelt_joint_boxes')]
        if None not in ms:
            rows.append([scene['name']] + [number(x) for x in ms] + [percent(x / ms[1] - 1) for x in (ms[0], ms[2])])
    head = ['ms', 'exact boxes', 'none', 'of joints', 'exact cost', 'of joints cost']
    return table(head, rows) if rows else []


def byte_table(scenes):
    names = [n for n in names_of(scenes, False) if n == 'pelt' or not n.startswith('pelt')]
    rows = []
    for scene in scenes:
        of = measured(scene)
        rows.append([scene['name'], '%.1f + %.1f' % (scene['bytes_read'], scene['bytes_written'])] +
                    [number(of[n]['requested_bytes'] if n in of else None, 3) for n in names])
    return table(['bytes a vertex', 'fewest'] + names, rows)


def draw_table(scenes):
    names = names_of(scenes, True)
    rows = []
    for scene in scenes:
        of = measured(scene)
        if any(n in of for n in names):
            rows.append([scene['name'], number(median(of.get('pelt')))] + [number(median(of.get(n))) for n in names] +
                        [number(scene['break_even_passes'], 2)])
    return table(['ms', 'pelt'] + names + ['pays from passes'], rows) if rows else []


def size_table(scenes):
    names = names_of(scenes, False)
    rows = []
    for scene in scenes:
        of = measured(scene)
        rows.append([format(scene['vertices'] // scene['instances'], ',')] +
                    ['%.4f' % per_vertex(scene, of[n]) if n in of else '–' for n in names])
    return table(['ns a vertex'] + names, rows)


# ---- over mesh size

def per_vertex(scene, contender):
    return contender['ms']['median'] * 1e6 / scene['vertices']


def curve(scenes, name, value):
    points = []
    for scene in scenes:
        of = measured(scene)
        if name in of:
            y = value(scene, of, of[name])
            if y is not None:
                points.append((scene['vertices'] / scene['instances'], y))
    return sorted(points)


def box_cost(scene, of, contender):
    none = of.get('pelt_no_box')
    return 100 * (contender['ms']['median'] / none['ms']['median'] - 1) if none else None


def crossover(scenes):
    """Vertices of a mesh from which boxes of joints cost less than exact ones; None where the curves do not cross."""
    exact = dict(curve(scenes, 'pelt', lambda s, of, c: per_vertex(s, c)))
    joints = dict(curve(scenes, 'pelt_joint_boxes', lambda s, of, c: per_vertex(s, c)))
    sizes = sorted(set(exact) & set(joints))
    gains = [(math.log2(n), joints[n] / exact[n] - 1) for n in sizes]
    for (x0, y0), (x1, y1) in zip(gains, gains[1:]):
        if y0 > 0 >= y1:
            return 2 ** (x0 + (x1 - x0) * y0 / (y0 - y1))
    return None


# ---- the page

def page_text(bench, sizes, images):
    device, memory = bench['device'], bench['memory']
    scenes = bench['scenes']
    out = ['%s, %s %s, medians of %d runs. Its memory gives %.0f GB/s to a copy (read and written) and %.0f GB/s to a fill.' % (
        device['name'], device['driver'], device['driver_version'], bench['runs'], memory['copy_gb_per_s'],
        memory['fill_gb_per_s']), '', 'In brackets: how many times as long as `pelt`.', '']
    out += design_table(scenes) + box_table(scenes) + byte_table(scenes)
    draws = draw_table(scenes)
    if draws:
        out += ['Skinning once, then drawing, against skinning in the vertex shader of each pass:', ''] + draws
    if sizes:
        out += size_table(sizes)
        at = crossover(sizes)
        if at:
            out += ['Boxes of joints cost less than exact ones from some %s vertices a mesh on.' % format(round(at), ','), '']
    if images:
        out += ['![%s](%s)' % (os.path.basename(path), path) for path in images] + ['']
    return '\n'.join(out)


def load(path):
    with open(path, encoding='utf-8') as f:
        bench = json.load(f)
    if bench.get('schema') != 'pelt/bench-gpu/1':
        sys.exit('%s is not of pelt/bench-gpu/1' % path)
    bench['scenes'] = [s for s in bench['scenes'] if s['skipped'] is None]
    return bench


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('scenes')
    parser.add_argument('sizes', nargs='?')
    parser.add_argument('--write')
    parser.add_argument('--images')
    arguments = parser.parse_args()
    bench = load(arguments.scenes)
    sizes = load(arguments.sizes)['scenes'] if arguments.sizes else []
    images = []
    if arguments.images:
        from bench_gpu_plots import write_plots  # here, since it imports this file
        folder = os.path.relpath(arguments.images, os.path.dirname(arguments.write or '') or '.')
        images = [os.path.join(folder, name).replace(os.sep, '/') for name in write_plots(bench, sizes, arguments.images)]
    words = page_text(bench, sizes, images)
    if not arguments.write:
        print(words)
        return 0
    put(arguments.write, BEGIN, END, words)
    return 0


if __name__ == '__main__':
    sys.exit(main())
