#!/usr/bin/env python3
"""Makes the small models in this folder, which sweeps and fuzzing start from. Run it here after a change and commit the result.

usage: make.py      needs libmeshoptimizer for the compressed one (loaded through ctypes)
"""
import base64
import ctypes
import ctypes.util
import json
import math
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}
CODE = {5120: 'b', 5121: 'B', 5122: 'h', 5123: 'H', 5125: 'I', 5126: 'f'}
POSITIONS = [-.5, 0, 0, .5, 0, .25, -.5, 1, 0, .5, 1, .25, -.5, 2, 0, .5, 2, .25]
NORMALS = [0, 0, 1] * 6
TANGENTS = [1, 0, 0, 1] * 3 + [1, 0, 0, -1] * 3
JOINTS = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
WEIGHTS = [1, 0, 0, 0, 1, 0, 0, 0, .5, .5, 0, 0, .5, .5, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
INDICES = [0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4]
BINDS = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1]
TURN = [0, 0, math.sin(math.pi / 4), math.cos(math.pi / 4)]


class Model:
    def __init__(self):
        self.bytes = bytearray()
        self.json = {'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'nodes': [0, 2]}], 'accessors': [],
                     'bufferViews': [], 'nodes': [{'children': [1]}, {'translation': [0, 1, 0], 'rotation': TURN},
                                                  {'mesh': 0, 'skin': 0}], 'meshes': []}
        self.json['skins'] = [{'joints': [0, 1], 'inverseBindMatrices': self.accessor(BINDS, 'MAT4')}]

    def view(self, data, **more):
        self.bytes += bytes(-len(self.bytes) % 4)
        self.json['bufferViews'].append({'buffer': 0, 'byteOffset': len(self.bytes), 'byteLength': len(data), **more})
        self.bytes += data
        return len(self.json['bufferViews']) - 1

    def accessor(self, values, kind, component=5126, bounds=False, **more):
        data = struct.pack('<%d%s' % (len(values), CODE[component]), *values)
        width = WIDTH[kind]
        entry = {'bufferView': self.view(data), 'componentType': component, 'count': len(values) // width,
                 'type': kind, **more}
        if bounds:
            entry['min'] = [min(values[c::width]) for c in range(width)]
            entry['max'] = [max(values[c::width]) for c in range(width)]
        self.json['accessors'].append(entry)
        return len(self.json['accessors']) - 1

    def bar(self, **more):
        attributes = {'POSITION': self.accessor(POSITIONS, 'VEC3', bounds=True),
                      'JOINTS_0': self.accessor(JOINTS, 'VEC4', 5121), 'WEIGHTS_0': self.accessor(WEIGHTS, 'VEC4')}
        return {'attributes': attributes, 'indices': self.accessor(INDICES, 'SCALAR', 5123), **more}

    def clip(self, *channels):
        samplers, targets = [], []
        for node, path, mode, times, values in channels:
            kind = {'rotation': 'VEC4', 'weights': 'SCALAR'}.get(path, 'VEC3')
            samplers.append({'input': self.accessor(times, 'SCALAR', bounds=True),
                             'output': self.accessor(values, kind), 'interpolation': mode})
            targets.append({'sampler': len(samplers) - 1, 'target': {'node': node, 'path': path}})
        self.json.setdefault('animations', []).append({'samplers': samplers, 'channels': targets})

    def save(self, name):
        js = dict(self.json)
        if name.endswith('.gltf'):
            uri = 'data:application/octet-stream;base64,' + base64.b64encode(self.bytes).decode()
            js['buffers'] = [{'byteLength': len(self.bytes), 'uri': uri}]
            data = json.dumps(js, separators=(',', ':')).encode()
        else:
            js['buffers'] = [{'byteLength': len(self.bytes)}]
            text = json.dumps(js, separators=(',', ':')).encode()
            text += b' ' * (-len(text) % 4)
            body = bytes(self.bytes) + bytes(-len(self.bytes) % 4)
            data = struct.pack('<4sIIII', b'glTF', 2, 28 + len(text) + len(body), len(text), 0x4E4F534A) + text
            data += struct.pack('<II', len(body), 0x004E4942) + body
        with open(os.path.join(HERE, name), 'wb') as f:
            f.write(data)


def plain(name):
    m = Model()
    m.json['meshes'] = [{'primitives': [m.bar()]}]
    m.clip((1, 'rotation', 'LINEAR', [0, 1], [0, 0, 0, 1] + TURN), (0, 'translation', 'STEP', [0, .5], [0, 0, 0, 1, 0, 0]))
    m.save(name)


def morphs():
    m = Model()
    primitive = m.bar()
    primitive['attributes']['NORMAL'] = m.accessor(NORMALS, 'VEC3')
    primitive['attributes']['TANGENT'] = m.accessor(TANGENTS, 'VEC4')
    m.json['accessors'].append({'componentType': 5126, 'count': 6, 'type': 'VEC3', 'sparse': {
        'count': 2, 'indices': {'bufferView': m.view(bytes([4, 5])), 'componentType': 5121},
        'values': {'bufferView': m.view(struct.pack('<6f', 1, 0, 0, 1, 0, .5))}}})
    sparse = len(m.json['accessors']) - 1
    deltas = m.accessor([0, .25, 0] * 6, 'VEC3')
    primitive['targets'] = [{'POSITION': sparse, 'NORMAL': deltas}, {'POSITION': deltas, 'TANGENT': deltas}]
    m.json['meshes'] = [{'primitives': [primitive], 'weights': [.5, 0], 'extras': {'targetNames': ['tip', 'up']}}]
    m.clip((2, 'weights', 'CUBICSPLINE', [0, 1], [0, 0, 0, 1, .5, 0, 0, .5, 1, 0, 0, 0]),
           (1, 'scale', 'LINEAR', [0, 1], [1, 1, 1, -1, 0, 2]))
    m.save('morphs.glb')


def quantized():
    m = Model()
    m.json['extensionsUsed'] = m.json['extensionsRequired'] = ['KHR_mesh_quantization']
    rows = b''.join(struct.pack('<4B4B4h', *JOINTS[4 * i:4 * i + 4], *[round(255 * w) if w != .5 else 128 - j % 2 for j, w in
                                enumerate(WEIGHTS[4 * i:4 * i + 4])], *[round(8192 * p) for p in POSITIONS[3 * i:3 * i + 3]], 0)
                    for i in range(6))
    view = m.view(rows, byteStride=16)
    first = len(m.json['accessors'])
    m.json['accessors'] += [
        {'bufferView': view, 'componentType': 5121, 'count': 6, 'type': 'VEC4'},
        {'bufferView': view, 'byteOffset': 4, 'componentType': 5121, 'normalized': True, 'count': 6, 'type': 'VEC4'},
        {'bufferView': view, 'byteOffset': 8, 'componentType': 5122, 'normalized': True, 'count': 6, 'type': 'VEC3',
         'min': [-4096, 0, 0], 'max': [4096, 16384, 2048]}]
    m.json['meshes'] = [{'primitives': [{'mode': 5, 'attributes': {
        'JOINTS_0': first, 'WEIGHTS_0': first + 1, 'POSITION': first + 2}}]}]
    m.json['nodes'][0]['scale'] = [4, 4, 4]
    m.save('quantized.glb')


def many():
    m = Model()
    triangles = m.bar()
    shared = dict(triangles['attributes'])
    shared['JOINTS_1'], shared['WEIGHTS_1'] = shared['JOINTS_0'], m.accessor([0] * 24, 'VEC4')
    m.json['meshes'] = [{'primitives': [{**triangles, 'attributes': shared}, {'attributes': triangles['attributes'], 'mode': 6},
                                        {'attributes': triangles['attributes'], 'mode': 1}]}]
    m.json['skins'].append({'joints': [1, 0]})
    m.json['nodes'] += [{'mesh': 0, 'skin': 1}, {'mesh': 0, 'matrix': [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1]}]
    m.json['scenes'][0]['nodes'] += [3, 4]
    m.save('many.gltf')


def compressed():
    library = ctypes.CDLL(ctypes.util.find_library('meshoptimizer'))
    library.meshopt_encodeVertexBufferBound.restype = library.meshopt_encodeVertexBuffer.restype = ctypes.c_size_t
    library.meshopt_encodeIndexBufferBound.restype = library.meshopt_encodeIndexBuffer.restype = ctypes.c_size_t
    m = Model()
    m.json['extensionsUsed'] = m.json['extensionsRequired'] = ['EXT_meshopt_compression']
    primitive = m.bar()

    def compress(accessor, stride, mode):
        entry = m.json['accessors'][accessor]
        view = m.json['bufferViews'][entry['bufferView']]
        raw = bytes(m.bytes[view['byteOffset']:view['byteOffset'] + view['byteLength']])
        count = entry['count']
        out = ctypes.create_string_buffer(4096)
        if mode == 'ATTRIBUTES':
            size = library.meshopt_encodeVertexBuffer(out, ctypes.c_size_t(4096), raw, ctypes.c_size_t(count),
                                                      ctypes.c_size_t(stride))
        else:
            wide = struct.pack('<%dI' % count, *struct.unpack('<%dH' % count, raw))
            size = library.meshopt_encodeIndexBuffer(out, ctypes.c_size_t(4096), wide, ctypes.c_size_t(count))
        packed = m.view(out.raw[:size])
        source = m.json['bufferViews'].pop(packed)
        view.update({'buffer': 1, 'byteOffset': 0, 'extensions': {'EXT_meshopt_compression': {
            'buffer': 0, 'byteOffset': source['byteOffset'], 'byteLength': size, 'byteStride': stride, 'mode': mode,
            'count': count}}})
        if mode == 'ATTRIBUTES':
            view['byteStride'] = stride

    compress(primitive['attributes']['POSITION'], 12, 'ATTRIBUTES')
    compress(primitive['attributes']['WEIGHTS_0'], 16, 'ATTRIBUTES')
    compress(primitive['indices'], 2, 'TRIANGLES')
    m.json['meshes'] = [{'primitives': [primitive]}]

    body = bytes(m.bytes) + bytes(-len(m.bytes) % 4)
    m.json['buffers'] = [{'byteLength': len(body)}, {'byteLength': 256, 'extensions': {
        'EXT_meshopt_compression': {'fallback': True}}}]
    text = json.dumps(m.json, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 4)
    with open(os.path.join(HERE, 'compressed.glb'), 'wb') as f:
        f.write(struct.pack('<4sIIII', b'glTF', 2, 28 + len(text) + len(body), len(text), 0x4E4F534A) + text)
        f.write(struct.pack('<II', len(body), 0x004E4942) + body)


plain('bar.gltf')
plain('bar.glb')
morphs()
quantized()
many()
compressed()
