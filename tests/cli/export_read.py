# SPDX-License-Identifier: MIT
"""Reads the export formats of `pose` back, each by its own rules, with the standard library only.

Every reader returns a list of primitives or objects: dicts with 'positions', 'normals', 'texcoords' (where there) and
'elements', index tuples of 1, 2 or 3 vertices.
"""
import ast
import json
import os
import struct
import urllib.parse
import zipfile

FORMATS = {5120: 'b', 5121: 'B', 5122: 'h', 5123: 'H', 5125: 'I', 5126: 'f'}
WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4}


def float32(x):
    return struct.unpack('<f', struct.pack('<f', float(x)))[0]


def groups(values, width):
    assert len(values) % width == 0, (len(values), width)
    return [tuple(values[i:i + width]) for i in range(0, len(values), width)]


def read_npy(data):
    assert data[:8] == b'\x93NUMPY\x01\x00', data[:8]
    length = struct.unpack_from('<H', data, 8)[0]
    assert (10 + length) % 64 == 0, length
    header = data[10:10 + length].decode('latin1')
    assert header.endswith('\n')
    fields = ast.literal_eval(header.strip())
    assert set(fields) == {'descr', 'fortran_order', 'shape'} and fields['fortran_order'] is False, fields
    count = 1
    for n in fields['shape']:
        count *= n
    code = {'<f4': 'f', '<u4': 'I'}[fields['descr']]
    assert len(data) == 10 + length + 4 * count, (len(data), fields)
    values = list(struct.unpack_from('<%d%s' % (count, code), data, 10 + length))
    return fields['descr'], fields['shape'], values


def read_npz(path):
    """{name: (descr, shape, flat values)}"""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED and info.filename.endswith('.npy'), info
            assert info.date_time == (1980, 1, 1, 0, 0, 0), info
            arrays[info.filename[:-4]] = read_npy(archive.read(info))
    return arrays


def npz_primitives(path, widths):
    """widths: vertices of an element of the k-th primitive, which the arrays do not tell"""
    arrays = read_npz(path)
    out = []
    for k, width in enumerate(widths):
        p = {'positions': groups(arrays['positions_%d' % k][2], 3),
             'elements': groups(arrays['indices_%d' % k][2], width),
             'box': groups(arrays['box_%d' % k][2], 3)}
        for name, n in (('normals', 3), ('tangents', 4)):
            if '%s_%d' % (name, k) in arrays:
                p[name] = groups(arrays['%s_%d' % (name, k)][2], n)
        out.append(p)
    return out


def read_obj(path):
    objects = []
    lists = {'v': [], 'vt': [], 'vn': []}
    for line in open(path, encoding='utf8'):
        key, *rest = line.split()
        if key == 'o':
            assert len(rest) == 1
            objects.append({'name': rest[0], 'elements': [], 'material': None, 'corners': []})
        elif key in lists:
            lists[key].append(tuple(float32(x) for x in rest))
        elif key == 'usemtl':
            objects[-1]['material'] = rest[0]
        elif key in ('f', 'l', 'p'):
            corners = [[int(i) if i else None for i in corner.split('/')] for corner in rest]
            objects[-1]['corners'].append(corners)
        else:
            assert key == '#', line
    for o in objects:
        used = sorted({c[0] for e in o['corners'] for c in e})
        o['first'] = used[0] if used else None
        o['elements'] = [tuple(c[0] - 1 for c in e) for e in o['corners']]
    return objects, lists


def read_ply(path):
    data = open(path, 'rb').read()
    end = data.index(b'end_header\n') + len(b'end_header\n')
    lines = data[:end].decode('ascii').splitlines()
    assert lines[0] == 'ply' and lines[1] == 'format binary_little_endian 1.0', lines
    codes = {'float': 'f', 'uchar': 'B', 'int': 'i', 'uint': 'I'}
    elements = []
    for line in lines[2:]:
        words = line.split()
        if words[0] == 'element':
            elements.append((words[1], int(words[2]), []))
        elif words[0] == 'property':
            elements[-1][2].append(words[1:])
    out, at = {}, end
    for name, count, properties in elements:
        rows = []
        for _ in range(count):
            row = {}
            for p in properties:
                if p[0] == 'list':
                    n = struct.unpack_from('<' + codes[p[1]], data, at)[0]
                    at += struct.calcsize(codes[p[1]])
                    row[p[3]] = struct.unpack_from('<%d%s' % (n, codes[p[2]]), data, at)
                    at += n * struct.calcsize(codes[p[2]])
                else:
                    row[p[1]] = struct.unpack_from('<' + codes[p[0]], data, at)[0]
                    at += struct.calcsize(codes[p[0]])
            rows.append(row)
        out[name] = rows
    assert at == len(data), (at, len(data))
    return out


def read_stl(path):
    data = open(path, 'rb').read()
    assert not data.startswith(b'solid')
    count = struct.unpack_from('<I', data, 80)[0]
    assert len(data) == 84 + 50 * count, (len(data), count)
    out = []
    for i in range(count):
        values = struct.unpack_from('<12fH', data, 84 + 50 * i)
        out.append((values[0:3], groups(list(values[3:12]), 3)))
    return out


def load_gltf(path):
    """(document, bytes of buffer 0)"""
    data = open(path, 'rb').read()
    if data[:4] == b'glTF':
        version, length = struct.unpack_from('<II', data, 4)
        assert version == 2 and length == len(data)
        size, kind = struct.unpack_from('<I4s', data, 12)
        assert kind == b'JSON'
        doc, rest = json.loads(data[20:20 + size]), data[20 + size:]
        if not rest:
            return doc, b''
        size, kind = struct.unpack_from('<I4s', rest, 0)
        assert kind == b'BIN\0' and len(rest) == 8 + size
        return doc, rest[8:]
    doc = json.loads(data)
    if not doc.get('buffers'):
        return doc, b''
    uri = doc['buffers'][0]['uri']
    return doc, open(os.path.join(os.path.dirname(path), urllib.parse.unquote(uri)), 'rb').read()


def accessor(doc, data, index):
    a = doc['accessors'][index]
    view = doc['bufferViews'][a['bufferView']]
    assert view.get('buffer', 0) == 0
    width, code = WIDTHS[a['type']], FORMATS[a['componentType']]
    stride = view.get('byteStride', width * struct.calcsize(code))
    start = view.get('byteOffset', 0) + a.get('byteOffset', 0)
    rows = [struct.unpack_from('<%d%s' % (width, code), data, start + i * stride) for i in range(a['count'])]
    return [row[0] for row in rows] if width == 1 else rows


def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def node_matrix(node):
    if 'matrix' in node:
        return [[node['matrix'][4 * j + i] for j in range(4)] for i in range(4)]
    x, y, z, w = node.get('rotation', (0, 0, 0, 1))
    s, t = node.get('scale', (1, 1, 1)), node.get('translation', (0, 0, 0))
    r = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    return [[r[i][j] * s[j] for j in range(3)] + [t[i]] for i in range(3)] + [[0, 0, 0, 1]]


def elements_of(indices, mode):
    n = len(indices)
    if mode == 0:
        at = [(i,) for i in range(n)]
    elif mode == 1:
        at = [(i, i + 1) for i in range(0, n - 1, 2)]
    elif mode in (2, 3):
        at = [(i, i + 1) for i in range(n - 1)] + ([(n - 1, 0)] if mode == 2 else [])
    elif mode == 4:
        at = [(i, i + 1, i + 2) for i in range(0, n - 2, 3)]
    elif mode == 5:
        at = [(i, i + 1 + i % 2, i + 2 - i % 2) for i in range(n - 2)]
    else:
        at = [(i + 1, i + 2, 0) for i in range(n - 2)]
    return [tuple(indices[i] for i in e) for e in at]


def read_gltf(path):
    """Primitives of the default scene in node order, each with 'world', the matrix of its node"""
    doc, data = load_gltf(path)
    nodes = doc.get('nodes', [])
    worlds = {}
    pending = [(i, None) for i in doc['scenes'][doc.get('scene', 0)].get('nodes', [])]
    while pending:
        i, parent = pending.pop()
        local = node_matrix(nodes[i])
        worlds[i] = multiply(worlds[parent], local) if parent is not None else local
        pending += [(child, i) for child in nodes[i].get('children', [])]
    out = []
    for i in sorted(worlds):
        if 'mesh' not in nodes[i]:
            continue
        for p in doc['meshes'][nodes[i]['mesh']]['primitives']:
            attributes = p['attributes']
            positions = accessor(doc, data, attributes['POSITION'])
            indices = accessor(doc, data, p['indices']) if 'indices' in p else list(range(len(positions)))
            q = {'node': i, 'name': nodes[i].get('name'), 'world': worlds[i], 'positions': positions,
                 'elements': elements_of(indices, p.get('mode', 4)), 'attributes': attributes, 'doc': doc, 'data': data,
                 'mode': p.get('mode', 4)}
            for name, key in (('normals', 'NORMAL'), ('tangents', 'TANGENT'), ('texcoords', 'TEXCOORD_0')):
                if key in attributes:
                    q[name] = accessor(doc, data, attributes[key])
            out.append(q)
    return out
