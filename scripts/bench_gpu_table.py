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

BEGIN, END = '<!-- pelt bench --device: begin -->', '<!-- pelt bench --device: end -->'
COLOURS = ['#1f5fa8', '#d1495b', '#2e8b57', '#8a5fb0', '#c98a1b', '#4f4f4f', '#3aa6b9', '#a0522d']
DRAWS = ('vertex_shader', 'draw_skinned')


def table(head, rows):
    lines = [head, ['---'] * len(head)] + rows
    return [''.join('| %s ' % cell for cell in line) + '|' for line in lines] + ['']


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
        rows.append([scene['name'], number(pelt), number(update)] + cells +
                    ['%s of %s' % (percent(share), scene['against']) if pelt else '–'])
    return table(['ms', 'pelt', 'whole update'] + others + ['share'], rows)


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
    names = names_of(scenes, False)
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


# ---- plots

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 70, 170, 40, 50


def svg(parts):
    head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">'
            '<rect width="100%%" height="100%%" fill="white"/>' % (WIDTH, HEIGHT))
    return head + '\n'.join(parts) + '</svg>\n'


def text(x, y, words, anchor='middle', colour='#333', extra=''):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s"%s>%s</text>' % (x, y, anchor, colour, extra, words)


def line(x0, y0, x1, y1, colour='#ddd', extra=''):
    return '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"%s/>' % (x0, y0, x1, y1, colour, extra)


def short(n):
    return '%dM' % (n >> 20) if n >= 1 << 20 else '%dk' % (n >> 10) if n >= 1 << 10 else '%d' % n


def ticks(low, high):
    """About six round numbers."""
    step = 10 ** math.floor(math.log10((high - low) / 3))
    while (high - low) / step > 6:
        step *= 2
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]


def line_plot(title, unit, series, logarithmic, mark=None):
    """series: name and points (size, value)."""
    values = [y for _, points in series for _, y in points]
    sizes = [x for _, points in series for x, _ in points]
    low, high = min(values), max(values)
    if logarithmic:
        low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high) + 1e-9)
        scale, marks = math.log10, [10 ** k for k in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    else:
        low, high = min(low, 0), max(high * 1.05, 1e-9)
        scale, marks = float, ticks(low, high)
    left, right = math.log2(min(sizes)), math.log2(max(sizes)) + 1e-9

    def at(size, value):
        x = LEFT + (math.log2(size) - left) / (right - left) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (scale(value) - scale(low)) / (scale(high) - scale(low)) * (HEIGHT - TOP - BOTTOM)
        return x, y

    parts = [text(LEFT, 22, title, 'start', '#000', ' font-size="14"')]
    for y in marks:
        parts += [line(LEFT, at(min(sizes), y)[1], WIDTH - RIGHT, at(min(sizes), y)[1]),
                  text(LEFT - 6, at(min(sizes), y)[1] + 4, '%g' % y, 'end')]
    for n in sorted({1 << round(math.log2(s)) for s in sizes}):
        parts.append(text(at(n, low if logarithmic else low)[0], HEIGHT - BOTTOM + 18, short(n)))
    parts += [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, 'vertices of a mesh'),
              text(18, (TOP + HEIGHT - BOTTOM) / 2, unit, 'middle', '#333',
                   ' transform="rotate(-90 18 %.1f)"' % ((TOP + HEIGHT - BOTTOM) / 2))]
    if mark:
        x = at(mark, high)[0]
        parts += [line(x, TOP, x, HEIGHT - BOTTOM, '#888', ' stroke-dasharray="4 3"'),
                  text(x + 4, TOP + 12, 'equal at %s vertices' % format(round(mark), ','), 'start', '#555')]
    for k, (name, points) in enumerate(series):
        colour = COLOURS[k % len(COLOURS)]
        path = ' '.join('%.1f,%.1f' % at(x, y) for x, y in points)
        parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (path, colour))
        parts += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (*at(x, y), colour) for x, y in points]
        parts += [line(WIDTH - RIGHT + 12, TOP + 10 + 20 * k, WIDTH - RIGHT + 32, TOP + 10 + 20 * k, colour,
                       ' stroke-width="3"'), text(WIDTH - RIGHT + 38, TOP + 14 + 20 * k, name, 'start')]
    return svg(parts)


def bar_plot(title, scenes):
    """Billions of vertices a second, a group of bars for each scene."""
    names = [n for n in names_of(scenes, False) if n not in ('pelt_no_box', 'pelt_joint_boxes')]
    rates = {(s['name'], n): measured(s)[n]['vertices_per_s'] * 1e-9 for s in scenes for n in names if n in measured(s)}
    high = max(rates.values()) * 1.05
    group = (WIDTH - LEFT - RIGHT) / len(scenes)
    bar = group * 0.8 / len(names)
    bottom = HEIGHT - BOTTOM
    parts = [text(LEFT, 22, title, 'start', '#000', ' font-size="14"')]
    for y in ticks(0, high):
        up = bottom - y / high * (bottom - TOP)
        parts += [line(LEFT, up, WIDTH - RIGHT, up), text(LEFT - 6, up + 4, '%g' % y, 'end')]
    for i, scene in enumerate(scenes):
        parts.append(text(LEFT + group * (i + 0.5), bottom + 18, scene['name']))
        for k, name in enumerate(names):
            size = rates.get((scene['name'], name), 0) / high * (bottom - TOP)
            parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (
                LEFT + group * (i + 0.1) + bar * k, bottom - size, bar * 0.9, size, COLOURS[k % len(COLOURS)]))
    for k, name in enumerate(names):
        parts += [line(WIDTH - RIGHT + 12, TOP + 10 + 20 * k, WIDTH - RIGHT + 32, TOP + 10 + 20 * k,
                       COLOURS[k % len(COLOURS)], ' stroke-width="8"'),
                  text(WIDTH - RIGHT + 38, TOP + 14 + 20 * k, name, 'start')]
    return svg(parts)


def plots(scenes, sizes):
    out = {}
    if scenes:
        out['gpu_designs.svg'] = bar_plot('Billions of vertices a second', scenes)
    if len(sizes) > 1:
        series = [(n, curve(sizes, n, lambda s, of, c: per_vertex(s, c))) for n in names_of(sizes, False)]
        out['gpu_sizes.svg'] = line_plot('Time over the size of meshes', 'ns a vertex', [s for s in series if s[1]], True)
        costs = [(words, curve(sizes, n, box_cost)) for n, words in (('pelt', 'exact'), ('pelt_joint_boxes', 'of joints'))]
        if all(points for _, points in costs):
            out['gpu_bounds.svg'] = line_plot('What boxes add to the pass', 'percent', costs, False, crossover(sizes))
    return out


# ---- the page

def page_text(bench, sizes, image_path):
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
    if image_path is not None:
        out += ['![%s](%s)' % (name, os.path.join(image_path, name).replace(os.sep, '/')) for name in plots(scenes, sizes)] + ['']
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
    image_path = None
    if arguments.images:
        os.makedirs(arguments.images, exist_ok=True)
        for name, drawing in plots(bench['scenes'], sizes).items():
            with open(os.path.join(arguments.images, name), 'w', encoding='utf-8') as f:
                f.write(drawing)
        image_path = os.path.relpath(arguments.images, os.path.dirname(arguments.write or '') or '.')
    words = page_text(bench, sizes, image_path)
    if not arguments.write:
        print(words)
        return 0
    with open(arguments.write, encoding='utf-8') as f:
        page = f.read()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        sys.exit('%s lacks the marks %s and %s' % (arguments.write, BEGIN, END))
    before, rest = page.split(BEGIN)
    with open(arguments.write, 'w', encoding='utf-8') as f:
        f.write('%s%s\n\n%s%s%s' % (before, BEGIN, words, END, rest.split(END)[1]))
    return 0


if __name__ == '__main__':
    sys.exit(main())
