# SPDX-License-Identifier: MIT
"""Builds small glTF files for the tests of `pose` and `bounds`. Shares nothing with the project's code."""
import base64
import json
import math
import struct

COMPONENTS = {5120: 'b', 5121: 'B', 5122: 'h', 5123: 'H', 5125: 'I', 5126: 'f'}
TYPES = {1: 'SCALAR', 2: 'VEC2', 3: 'VEC3', 4: 'VEC4', 16: 'MAT4'}


class Gltf:
    """A document with one buffer, filled by accessors."""

    def __init__(self):
        self.data = bytearray()
        self.doc = {'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'nodes': []}]}

    def add(self, key, value):
        self.doc.setdefault(key, []).append(value)
        return len(self.doc[key]) - 1

    def accessor(self, rows, component=5126, bounds=True, **more):
        rows = [row if isinstance(row, (list, tuple)) else [row] for row in rows]
        while len(self.data) % 4:
            self.data.append(0)
        start = len(self.data)
        for row in rows:
            self.data += struct.pack('<%d%s' % (len(row), COMPONENTS[component]), *row)
        view = self.add('bufferViews', {'buffer': 0, 'byteOffset': start, 'byteLength': len(self.data) - start})
        accessor = {'bufferView': view, 'componentType': component, 'count': len(rows), 'type': TYPES[len(rows[0])]}
        if bounds:
            single = [[struct.unpack('<f', struct.pack('<f', x))[0] if component == 5126 else x for x in row]
                      for row in rows]
            accessor['min'] = [min(column) for column in zip(*single)]
            accessor['max'] = [max(column) for column in zip(*single)]
        accessor.update(more)
        return self.add('accessors', accessor)

    def primitive(self, positions, indices=None, mode=None, normals=None, tangents=None, joints=None, weights=None,
                  targets=None, position_bounds=None, **more):
        """Keyword arguments in capitals are further attributes: TEXCOORD_0=rows."""
        attributes = {'POSITION': self.accessor(positions, **(position_bounds or {}))}
        for name, rows in (('NORMAL', normals), ('TANGENT', tangents), ('WEIGHTS_0', weights)):
            if rows:
                attributes[name] = self.accessor(rows, bounds=False)
        if joints:
            attributes['JOINTS_0'] = self.accessor(joints, 5121, bounds=False)
        primitive = {'attributes': attributes}
        for name, rows in more.items():
            if name.isupper():
                attributes[name] = self.accessor(rows, bounds=False)
            else:
                primitive[name] = rows
        if indices is not None:
            primitive['indices'] = self.accessor(indices, 5123, bounds=False)
        if mode is not None:
            primitive['mode'] = mode
        if targets:
            primitive['targets'] = [{'POSITION': self.accessor(rows)} for rows in targets]
        return primitive

    def mesh(self, *primitives, **more):
        return self.add('meshes', dict({'primitives': list(primitives)}, **more))

    def node(self, root=False, **node):
        index = self.add('nodes', node)
        if root:
            self.doc['scenes'][0]['nodes'].append(index)
        return index

    def skin(self, joints, inverse_binds=None):
        skin = {'joints': joints}
        if inverse_binds:
            skin['inverseBindMatrices'] = self.accessor(inverse_binds, bounds=False)
        return self.add('skins', skin)

    def clip(self, *channels, **more):
        """channels: (node, path, times, values[, interpolation])"""
        clip = dict({'channels': [], 'samplers': []}, **more)
        for node, path, times, values, *how in channels:
            sampler = {'input': self.accessor(times), 'output': self.accessor(values, bounds=False)}
            if how:
                sampler['interpolation'] = how[0]
            clip['samplers'].append(sampler)
            clip['channels'].append({'sampler': len(clip['samplers']) - 1, 'target': {'node': node, 'path': path}})
        return self.add('animations', clip)

    def save(self, path):
        doc = dict(self.doc)
        if self.data:
            uri = 'data:application/octet-stream;base64,' + base64.b64encode(bytes(self.data)).decode()
            doc['buffers'] = [{'byteLength': len(self.data), 'uri': uri}]
        with open(path, 'w') as f:
            json.dump(doc, f)
        return path


def translation(x, y, z):
    """A column-major 4x4, as inverse bind matrices are stored."""
    return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1]


def about_z(degrees):
    half = math.radians(degrees) / 2
    return [0, 0, math.sin(half), math.cos(half)]


BAR_POSITIONS = [[-.5, 0, 0], [.5, 0, .25], [-.5, 1, 0], [.5, 1, .25], [-.5, 2, 0], [.5, 2, .25]]


def bar(**mesh_node):
    """Two joints, the second at (0, 1, 0); vertices at y 0, 1 (half and half) and 2. Nodes: 0, 1 joints, 2 mesh."""
    g = Gltf()
    g.node(root=True, name='root', children=[1])
    g.node(name='bend', translation=[0, 1, 0])
    g.skin([0, 1], [translation(0, 0, 0), translation(0, -1, 0)])
    primitive = g.primitive(BAR_POSITIONS, [0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4], normals=[[0, 0, 1]] * 6,
                            joints=[[0, 1, 0, 0]] * 6,
                            weights=[[1, 0, 0, 0]] * 2 + [[.5, .5, 0, 0]] * 2 + [[0, 1, 0, 0]] * 2)
    g.mesh(primitive, name='bar')
    g.node(root=True, **dict({'name': 'skinned', 'mesh': 0, 'skin': 0}, **mesh_node))
    return g
