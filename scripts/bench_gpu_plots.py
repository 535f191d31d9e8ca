# SPDX-License-Identifier: MIT
"""The plots of docs/benchmarks.md from the JSON of `pelt bench --device`, as SVG; bench_gpu_table.py --images calls it."""
import math
import os
from xml.sax.saxutils import escape

from bench_gpu_table import box_cost, crossover, curve, measured, median, names_of, per_vertex

WIDTH, TOP, BOTTOM = 760, 58, 46
COLOURS = ['#0b62a4', '#d95f02', '#7570b3', '#1b9e77', '#a6761d', '#666666', '#e7298a']
GREY = '#b4b4b4'
OWN_VARIANTS = ('pelt_new_list', 'pelt_no_box', 'pelt_joint_boxes')

# The library's pass (src/vulkan): an item is at most so many vertices of one mesh, and a workgroup of threads loops over it.
ITEM_VERTICES = 1024
THREADS = 64
SMALL_ITEM, SMALL_THREADS = 256, 32  # items of at most so many vertices, on average
FEW_ITEMS, FEW_THREADS = 2048, 128  # fewer items in all, about, as the device says, and not small ones
GROUP = 64  # vertices that `groups` pads meshes to


class Svg:
    def __init__(self, title, subtitle, height):
        self.height = height
        self.parts = []
        self.text(12, 22, title, size=15, weight='bold')
        self.text(12, 40, subtitle, size=11, colour='#555')

    def text(self, x, y, text, size=11, anchor='start', colour='#222', weight='normal'):
        # White around the letters, for lines that pass behind them.
        self.parts.append('<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s" fill="%s" font-weight="%s" stroke="#fff" '
                          'stroke-width="3" paint-order="stroke">%s</text>' % (x, y, size, anchor, colour, weight, escape(text)))

    def line(self, x1, y1, x2, y2, colour='#ccc', extra=''):
        self.parts.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"%s/>' % (x1, y1, x2, y2, colour, extra))

    def bar(self, x, y, width, height, colour):
        self.parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (x, y, width, height, colour))

    def path(self, points, colour, dots):
        self.parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>'
                          % (' '.join('%.1f,%.1f' % p for p in points), colour))
        for x, y in points if dots else ():
            self.parts.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x, y, colour))

    def __str__(self):
        return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif">\n'
                '<rect width="100%%" height="100%%" fill="#fff"/>\n%s\n</svg>\n'
                % (WIDTH, self.height, WIDTH, self.height, '\n'.join(self.parts)))


class Axis:
    """A scale from low to high on the pixels from at to end."""

    def __init__(self, low, high, at, end, logarithmic=False):
        self.low, self.high, self.at, self.end, self.logarithmic = low, high, at, end, logarithmic

    def __call__(self, value):
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.at + (value - low) / (high - low) * (self.end - self.at)

    def ticks(self):
        if self.logarithmic:
            low, high = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            places = [k * 10.0 ** e for e in range(low, high + 1) for k in ((1, 2, 5) if high - low < 4 else (1,))]
            return [p for p in places if self.low * 0.999 <= p <= self.high * 1.001]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2.5))
        step = next(step * k for k in (1, 2, 5, 10) if (self.high - self.low) / (step * k) <= 7)
        first = math.ceil(self.low / step - 1e-9)
        return [step * k for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def short(value):
    return format(int(value), ',') if value >= 1000 else '%g' % float('%.6g' % value)


def short_size(n):
    return '%gM' % (n / (1 << 20)) if n >= 1 << 20 else '%gk' % (n / (1 << 10)) if n >= 1 << 10 else '%g' % n


# ---- two kinds of plots

def bars(title, subtitle, unit, groups, logarithmic, mark=None):
    """groups: label, and of each bar name, value, colour and the words behind it. mark: a value and its words."""
    rows = sum(len(values) for _, values in groups)
    height = TOP + 16 * rows + 12 * len(groups) + BOTTOM
    svg = Svg(title, subtitle, height)
    all_values = [value for _, values in groups for _, value, _, _ in values] + ([mark[0]] if mark else [])
    low = min(all_values) / 1.5 if logarithmic else 0
    axis = Axis(low, max(all_values) * 1.02, 210, WIDTH - 130, logarithmic)
    for tick in axis.ticks():
        svg.line(axis(tick), TOP, axis(tick), height - BOTTOM + 4)
        svg.text(axis(tick), height - BOTTOM + 18, short(tick), anchor='middle')
    svg.text((axis.at + axis.end) / 2, height - 10, unit, anchor='middle')
    y = TOP + 4
    for label, values in groups:
        svg.text(12, y + 12, label, weight='bold')
        for name, value, colour, words in values:
            svg.text(axis.at - 6, y + 12, name, anchor='end')
            svg.bar(axis.at, y + 2, max(axis(value) - axis.at, 1), 12, colour)
            svg.text(axis(value) + 5, y + 12, words, size=10)
            y += 16
        y += 12
    if mark:
        svg.line(axis(mark[0]), TOP, axis(mark[0]), height - BOTTOM + 4, '#333', ' stroke-dasharray="4 3"')
        svg.text(axis(mark[0]), TOP - 4, mark[1], anchor='middle')
    return svg


def curves(title, subtitle, y_label, series, logarithmic=False, mark=None, dots=True):
    """Over the vertices of a mesh. series: name, points and colour. mark: a size and its words."""
    height = 400
    svg = Svg(title, subtitle, height)
    xs, ys = zip(*[p for _, points, _ in series for p in points])
    x_axis = Axis(min(xs), max(xs), 64, WIDTH - 170, True)
    low, high = (min(ys) / 1.3, max(ys) * 1.3) if logarithmic else (min(0, *ys), max(max(ys) * 1.1, 1e-9))
    y_axis = Axis(low, high, height - BOTTOM, TOP + 16, logarithmic)
    for tick in y_axis.ticks():
        svg.line(x_axis.at, y_axis(tick), x_axis.end, y_axis(tick))
        svg.text(x_axis.at - 6, y_axis(tick) + 4, short(tick), anchor='end')
    for k in range(math.ceil(math.log2(min(xs)) - 1e-9), math.floor(math.log2(max(xs)) + 1e-9) + 1):
        svg.line(x_axis(1 << k), y_axis.at, x_axis(1 << k), y_axis.at + 4, '#888')
        svg.text(x_axis(1 << k), y_axis.at + 17, short_size(1 << k), anchor='middle', size=10)
    svg.text((x_axis.at + x_axis.end) / 2, height - 10, 'vertices of a mesh', anchor='middle')
    svg.text(12, TOP + 4, y_label)
    if mark:
        at = x_axis(mark[0])
        svg.line(at, y_axis.end, at, y_axis.at, '#555', ' stroke-dasharray="4 3"')
        left = at < (x_axis.at + x_axis.end) / 2
        svg.text(at + (5 if left else -5), y_axis.end + 10, mark[1], anchor='start' if left else 'end')
    for i, (name, points, colour) in reversed(list(enumerate(series))):  # the first on top
        svg.path([(x_axis(x), y_axis(y)) for x, y in points], colour, dots)
        svg.line(x_axis.end + 14, TOP + 30 + 18 * i, x_axis.end + 32, TOP + 30 + 18 * i, colour, ' stroke-width="3"')
        svg.text(x_axis.end + 38, TOP + 34 + 18 * i, name)
    return svg


# ---- what they show

def designs(scenes):
    return [n for n in names_of(scenes, False) if n not in OWN_VARIANTS]


def colours(scenes):
    """The same for a design in every plot that has these scenes."""
    names = designs(scenes)
    return {n: COLOURS[k % len(COLOURS)] for k, n in enumerate(['pelt'] + [n for n in names if n != 'pelt'])}


def plot_designs(scenes, sizes, where):
    colour = colours(scenes)
    groups = []
    for scene in scenes:
        of = measured(scene)
        pelt = median(of.get('pelt'))
        values = [(n, median(of[n]), colour[n],
                   '%.3g' % median(of[n]) + ('  (%.1fx)' % (median(of[n]) / pelt) if pelt and n != 'pelt' else ''))
                  for n in designs(scenes) if n in of]
        groups += [(scene['name'], values)] if values else []
    return bars('The pass of each design', where + '; in brackets: to that of pelt', 'ms, logarithmic', groups,
                True) if groups else None


def plot_sizes(scenes, sizes, where):
    colour = colours(scenes + sizes)
    lines = [(n, curve(sizes, n, lambda s, of, c: per_vertex(s, c)), colour[n]) for n in designs(sizes)]
    lines = [line for line in lines if line[1]]
    return curves('Time of a vertex by the size of meshes', where + '; some 4 million vertices in all, each mesh once',
                  'ns a vertex, logarithmic', lines, True) if lines else None


def plot_exact(scenes, sizes, where):
    groups = []
    for scene in scenes:
        of = measured(scene)
        exact, none = median(of.get('pelt')), median(of.get('pelt_no_box'))
        if exact and none:
            groups.append((scene['name'], [('without boxes', none, GREY, '%.4g' % none),
                                           ('exact boxes', exact, COLOURS[0], '%.4g  (%+.1f %%)' % (exact, 100 * (exact / none - 1)))]))
    return bars('What exact boxes cost', where, 'ms of the pass, logarithmic', groups, True) if groups else None


def plot_boxes(scenes, sizes, where):
    lines = [(words, curve(sizes, name, box_cost), colour)
             for words, name, colour in (('exact', 'pelt', COLOURS[0]), ('of joints', 'pelt_joint_boxes', COLOURS[1]))]
    if not all(points for _, points, _ in lines):
        return None
    at = crossover(sizes)
    return curves('What boxes cost by the size of meshes', where + '; 16 joints a mesh', '% of the pass without boxes', lines,
                  mark=(at, 'equal at %s vertices' % format(round(at), ',')) if at else None)


def lanes(vertices):
    """Threads that the library's pass has at work for a mesh: those without a vertex in an item's last step included."""
    items = -(-vertices // ITEM_VERTICES)
    return padded(vertices, SMALL_THREADS if vertices // items <= SMALL_ITEM else THREADS)


def lanes_of_few(vertices):
    return max(lanes(vertices), padded(vertices, FEW_THREADS)) if vertices > SMALL_ITEM else lanes(vertices)


def padded(vertices, step):
    return -(-vertices // step) * step


def wasted(lanes_of, size):
    """Percent, mean over the sizes within half an octave: a single one says only how far it is from a whole step."""
    counts = range(math.ceil(size / math.sqrt(2)), math.floor(size * math.sqrt(2)) + 1)
    return sum(100 * (1 - n / lanes_of(n)) for n in counts) / len(counts)


def plot_lanes(scenes, sizes, where):
    """From arithmetic alone."""
    kinds = (('pelt', lanes, COLOURS[0]), ('pelt, < %s items' % format(FEW_ITEMS, ','), lanes_of_few, COLOURS[2]),
             ('groups', lambda n: padded(n, GROUP), colours(scenes + sizes).get('groups', COLOURS[1])),
             ('256 a workgroup', lambda n: padded(n, 256), GREY))
    points = [16 * 2 ** (k / 8) for k in range(0, 65)]
    lines = [(name, [(n, wasted(lanes_of, n)) for n in points], colour) for name, lanes_of, colour in kinds]
    return curves('Lanes without a vertex', 'Counted, not measured; mean over meshes within half an octave of each size',
                  '% of lanes', lines, dots=False)


def plot_break_even(scenes, sizes, where):
    values = [(s['name'], s['break_even_passes']) for s in scenes if s['break_even_passes']]
    if not values:
        return None
    groups = [('', [(name, k, COLOURS[0], '%.2g' % k) for name, k in values])]
    return bars('Passes from which skinning once costs less than in the vertex shader', where,
                'passes over the scene, logarithmic: fewer is better for skinning once', groups, True, (1, 'one pass'))


def plot_bytes(scenes, sizes, where):
    colour = colours(scenes)
    groups = []
    for scene in scenes:
        of = measured(scene)
        values = [(n, of[n]['requested_bytes'], colour[n], '%.0f' % of[n]['requested_bytes'])
                  for n in designs(scenes) if n in of]
        least = scene['bytes_read'] + scene['bytes_written']
        groups += [(scene['name'], values + [('fewest', least, GREY, '%.0f' % least)])] if values else []
    return bars('Bytes that shaders ask for, a vertex',
                'Loads and stores, caches apart; fewest: each stream of each mesh once', 'bytes', groups, False) if groups else None


# In the order of the page.
PLOTS = (('gpu_designs.svg', plot_designs), ('gpu_sizes.svg', plot_sizes), ('gpu_exact.svg', plot_exact), ('gpu_boxes.svg', plot_boxes),
         ('gpu_lanes.svg', plot_lanes), ('gpu_break_even.svg', plot_break_even), ('gpu_bytes.svg', plot_bytes))


def write_plots(bench, sizes, folder):
    """Returns the names of those that the scenes are there for."""
    os.makedirs(folder, exist_ok=True)
    where = '%s, driver %s' % (bench['device']['name'], bench['device']['driver_version'])
    names = []
    for name, plot in PLOTS:
        drawing = plot(bench['scenes'], sizes if len(sizes) > 1 else [], where)
        if drawing:
            names.append(name)
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                f.write(str(drawing))
    return names
