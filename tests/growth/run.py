#!/usr/bin/env python3
"""Nothing is quadratic: twice the vertices, joints, keys, nodes, ... may cost at most 2.3 times the instructions.

usage: run.py BUILD      prints TAP. Instructions are counted by valgrind, so the result does not depend on the clock or load.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
PELT = os.path.join(BUILD, 'cli', 'pelt')
LIMIT = 2.3


class Model:
    """A glTF file under construction."""

    def __init__(self):
        self.bytes = bytearray()
        self.json = {'asset': {'version': '2.0'}, 'accessors': [], 'bufferViews': [], 'nodes': [], 'meshes': [],
                     'skins': [], 'animations': []}

    def accessor(self, values, kind, code='f', component=5126):
        width = {'SCALAR': 1, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}[kind]
        offset = len(self.bytes)
        self.bytes += struct.pack('<%d%s' % (len(values), code), *values)
        self.bytes += bytes(-len(self.bytes) % 4)
        self.json['bufferViews'].append({'buffer': 0, 'byteOffset': offset, 'byteLength': len(self.bytes) - offset})
        accessor = {'bufferView': len(self.json['bufferViews']) - 1, 'componentType': component, 'type': kind,
                    'count': len(values) // width}
        if kind == 'VEC3':
            accessor['min'] = [min(values[c::3]) for c in range(3)]
            accessor['max'] = [max(values[c::3]) for c in range(3)]
        self.json['accessors'].append(accessor)
        return len(self.json['accessors']) - 1

    def save(self, path):
        js = {k: v for k, v in self.json.items() if v or k == 'asset'}
        if self.bytes:
            js['buffers'] = [{'byteLength': len(self.bytes)}]
        text = json.dumps(js).encode()
        text += b' ' * (-len(text) % 4)
        with open(path, 'wb') as f:
            f.write(struct.pack('<4sIIII', b'glTF', 2, 28 + len(text) + len(self.bytes), len(text), 0x4E4F534A))
            f.write(text)
            f.write(struct.pack('<II', len(self.bytes), 0x004E4942))
            f.write(self.bytes)


def vertices(model, n, joints=2, targets=0):
    model_positions = model.accessor([float(i % 97) for i in range(3 * n)], 'VEC3')
    ids = [v for i in range(n) for v in (i % joints, (i + 1) % joints, 0, 0)]
    primitive = {'attributes': {
        'POSITION': model_positions, 'JOINTS_0': model.accessor(ids, 'VEC4', 'H', 5123),
        'WEIGHTS_0': model.accessor([.75, .25, 0, 0] * n if joints > 1 else [1, 0, 0, 0] * n, 'VEC4')}}
    if targets:
        deltas = model.accessor([.5] * (3 * n), 'VEC3')
        primitive['targets'] = [{'POSITION': deltas} for _ in range(targets)]
    return primitive


def rig(joints=2, deep=True):
    m = Model()
    for i in range(joints):
        m.json['nodes'].append({'translation': [0, .001, 0]})
        if deep and i:
            m.json['nodes'][i - 1]['children'] = [i]
    if not deep and joints > 1:
        m.json['nodes'][0]['children'] = list(range(1, joints))
    m.json['skins'].append({'joints': list(range(joints))})
    m.json['nodes'].append({'mesh': 0, 'skin': 0})
    return m


def clip(m, keys, channels):
    times = m.accessor([i / 64 for i in range(keys)], 'SCALAR')
    samplers = [{'input': times, 'output': m.accessor([0, 0, 0, 1] * keys, 'VEC4')} for _ in range(channels)]
    m.json['animations'].append({'samplers': samplers, 'channels': [
        {'sampler': i, 'target': {'node': i, 'path': 'rotation'}} for i in range(channels)]})


def by_vertices(n):
    m = rig()
    m.json['meshes'].append({'primitives': [vertices(m, n)]})
    return m


def by_joints(n, deep=True):
    m = rig(n, deep)
    m.json['meshes'].append({'primitives': [vertices(m, 64, n)]})
    return m


def by_nodes(n):
    m = by_vertices(64)
    first = len(m.json['nodes'])
    m.json['nodes'] += [{'children': [first + i + 1]} for i in range(n)] + [{}]
    return m


def by_keys(n):
    m = by_vertices(64)
    clip(m, n, 1)
    return m


def by_channels(n):
    m = by_joints(n)
    clip(m, 2, n)
    return m


def by_primitives(n):
    m = rig()
    m.json['meshes'].append({'primitives': [vertices(m, 8) for _ in range(n)]})
    return m


def by_targets(n):
    m = rig()
    m.json['meshes'].append({'primitives': [vertices(m, 64, 2, n)]})
    return m


def by_instances(n):
    m = by_vertices(16)
    m.json['nodes'] += [{'mesh': 0, 'skin': 0} for _ in range(n)]
    return m


def by_clips(n):
    m = by_vertices(16)
    for _ in range(n):
        clip(m, 2, 2)
    return m


def by_meshes(n):
    m = rig()
    for i in range(n):
        m.json['meshes'].append({'primitives': [vertices(m, 8)]})
        m.json['nodes'].append({'mesh': i, 'skin': 0})
    return m


def by_skins(n):
    m = by_vertices(64)
    for i in range(n):
        m.json['skins'].append({'joints': [0, 1]})
        m.json['nodes'].append({'mesh': 0, 'skin': i + 1})
    return m


def by_attributes(n):
    m = by_vertices(64)
    values = m.accessor([.5] * (3 * 64), 'VEC3')
    m.json['meshes'][0]['primitives'][0]['attributes'].update(('_A%d' % i, values) for i in range(n))
    return m


def by_scattered_vertices(n, sets=1, joints=400):
    """No two vertices share their joints, so no order puts them into runs of few."""
    m = rig(joints, False)
    rng = random.Random(3)
    attributes = {'POSITION': m.accessor([rng.random() for _ in range(3 * n)], 'VEC3')}
    for k in range(sets):
        ids = [v for _ in range(n) for v in rng.sample(range(joints), 4)]
        attributes['JOINTS_%d' % k] = m.accessor(ids, 'VEC4', 'H', 5123)
        attributes['WEIGHTS_%d' % k] = m.accessor([.25 / sets] * (4 * n), 'VEC4')
    m.json['meshes'].append({'primitives': [{'attributes': attributes}]})
    return m


def by_many_vertices(n):
    m = rig(100)
    m.json['meshes'].append({'primitives': [vertices(m, n, 100)]})
    return m


# what grows, maker, size, arguments after the file
POSE = ['pose', '-o']
COOK = ['cook', '-o']
GROWTH = [
    ('vertices', by_vertices, 60000, POSE), ('joints in a chain', by_joints, 8000, POSE),
    ('joints under one parent', lambda n: by_joints(n, False), 8000, POSE), ('nodes in a chain', by_nodes, 20000, POSE),
    ('keys', by_keys, 60000, POSE), ('channels', by_channels, 3000, POSE), ('primitives', by_primitives, 1500, POSE),
    ('morph targets', by_targets, 3000, POSE), ('instances', by_instances, 2000, POSE), ('clips', by_clips, 1000, POSE),
    ('joints, inspected', by_joints, 8000, ['inspect', '--tree']), ('nodes, inspected', by_nodes, 20000, ['inspect']),
    ('skins of one mesh, inspected', by_skins, 8000, ['inspect']),
    ('keys, all bounds', by_keys, 600, ['bounds']), ('vertices, cooked', by_many_vertices, 40000, COOK),
    ('joints, cooked', by_joints, 6000, COOK), ('nodes, cooked', by_nodes, 20000, COOK),
    ('primitives, cooked', by_primitives, 1500, COOK), ('morph targets, cooked', by_targets, 1500, COOK),
    ('instances, cooked', by_instances, 2000, COOK), ('keys, cooked', by_keys, 30000, COOK),
    ('clips, cooked', by_clips, 1000, COOK), ('channels, cooked', by_channels, 3000, COOK),
    ('meshes, cooked', by_meshes, 1000, COOK), ('skins of one mesh, cooked', by_skins, 1000, COOK),
    ('attributes, cooked', by_attributes, 1000, COOK),
    ('vertices without common joints, cooked', by_scattered_vertices, 8000, COOK),
    ('vertices of 12 influences, cooked', lambda n: by_scattered_vertices(n, 3), 4000, COOK),
    ('vertices and joints, cooked', lambda n: by_scattered_vertices(n, 1, max(n, 4)), 3000, COOK),
]


def instructions(folder, path, verb):
    counts = os.path.join(folder, 'callgrind.out')
    arguments = [verb[0], path] + (['--threads', '1'] if verb[0] != 'inspect' else [])
    if '-o' in verb:
        arguments += ['-o', os.path.join(folder, 'out.pelt' if verb == COOK else 'out.glb'), '--force']
    if '--tree' in verb:
        arguments.append('--tree')
    has_clip = b'"animations"' in open(path, 'rb').read()
    if has_clip and verb[0] == 'pose':
        arguments += ['--clip', '#0', '--time', '50%']
    if has_clip and verb[0] == 'bounds':
        arguments += ['--clip', 'all']
    run = subprocess.run(['valgrind', '--tool=callgrind', '--vgdb=no', '--callgrind-out-file=' + counts, PELT] + arguments,
                         capture_output=True, text=True, timeout=600)
    found = re.search(r'Collected : (\d+)', run.stderr)
    if run.returncode or not found:
        raise RuntimeError('%s: exit %d: %s' % (' '.join(arguments), run.returncode, run.stderr[-300:]))
    return int(found.group(1))


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, (title, make, size, verb) in enumerate(GROWTH, 1):
            path = os.path.join(folder, 'model.glb')
            try:
                counts = []
                for n in (0, size, 2 * size):
                    make(max(n, 1)).save(path)
                    counts.append(instructions(folder, path, verb))
                # What an empty file costs is no growth.
                ratio = (counts[2] - counts[0]) / max(1, counts[1] - counts[0])
                good, note = ratio <= LIMIT, 'x%.2f' % ratio
            except Exception as error:  # a checker that dies is a failure, not a crash
                good, note = False, str(error).replace('\n', ' ')
            print('%s %d - twice the %s (%d to %d): %s' % ('ok' if good else 'not ok', i, title, size, 2 * size, note),
                  flush=True)
            failed += not good
    print('1..%d' % len(GROWTH))
    return 1 if failed else 0


sys.exit(main())
