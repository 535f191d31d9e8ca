#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a .pelt file with NumPy alone and skins it at rest. docs/format.md is the byte layout.
usage: read_pelt.py FILE.pelt [POSED.npz]     POSED.npz: of `pelt pose FILE.pelt -o POSED.npz`, to compare with"""
import sys
import numpy as np
u8, u16, u32, f32 = np.uint8, np.uint16, np.uint32, np.float32

data = np.fromfile(sys.argv[1], u8)
head = data[:128].view(u32).tolist()
assert data[:8].tobytes() == b'\x89PELT\r\n\x1a' and head[2:4] == [0x01020304, 1], 'no .pelt file of version 1'
sections = {}  # kind, owner, sub: table entry as 8 numbers of 64 bits
for e in data[head[12]:][:head[14] * head[15]].reshape(-1, head[15]):
    sections[e[:4].tobytes(), *e[8:16].view(u32).tolist()] = e[:64].view(np.uint64).tolist()

def read(kind, dtype, owner=0, sub=0):  # a row per element, none where the section is missing
    _, _, offset, _, count, size, _, _ = sections.get((kind, owner, sub), [0, 0, 0, 0, 0, 12, 0, 0])
    return np.ndarray((count, size // np.dtype(dtype).itemsize), dtype, data, offset)

def square(matrices):  # 3x4 to 4x4
    return np.concatenate([matrices.reshape(-1, 3, 4), np.tile([[[0., 0., 0., 1.]]], (len(matrices), 1, 1))], axis=1)

def influences(p, plain, ordered):  # vertex, joint and weight of each
    code = read(b'WGHT', u32, p)[:, 0]
    a, b, c = code & 2047, code >> 11 & 2047, code >> 22
    stored = np.stack([a / 2048, b / 2048, c / 1024] if plain else [a + (a == 2047), b, c + (c == 1023)])
    stored = stored / (1 if plain else 4096)
    lists, offsets, extras = read(b'RUNJ', u16, p), read(b'XOFS', u32, p)[:, 0].astype(int), read(b'XTRA', u16, p)
    joints, wide = np.zeros((len(code), 4), int), []
    for run, half in zip(read(b'RUNS', u32, p).tolist(), read(b'RUNS', u16, p).tolist()):
        end, layout = run[0] + run[1], half[7] & 255
        stream = read(b'JNTI', u8, p).ravel()[run[4]:][:run[1] * (8 if layout == 2 else 4)]
        local = stream.view(u16 if layout == 2 else u8).reshape(-1, 4).astype(int)
        joints[run[0]:end] = lists[run[2] + local, 0] if layout == 0 else local
        wide += range(end - (half[16] if ordered or not half[16] else run[1]), end)
    wide = np.repeat(np.array(wide, int), np.diff(offsets))  # the vertex of each extra influence
    first = np.vstack([stored, 1 - stored.sum(axis=0)]) * (1 - np.bincount(wide, extras[:, 1], len(code)) / 65535)
    return (np.append(np.repeat(np.arange(len(code)), 4), wide), np.append(joints, extras[:, 0]).astype(int),
            np.append(first.T, extras[:, 1] / 65535)[:, None])

nodes, primitives, world = read(b'NODE', u32).tolist(), read(b'PRIM', u32).tolist(), []
for node, matrix in zip(nodes, square(read(b'NODE', f32)[:, 20:32])):  # parents come first
    world.append(matrix if node[2] == 0xFFFFFFFF else world[node[2]] @ matrix)
instances = [(i, p) for i in read(b'INST', u32).tolist() for p, record in enumerate(primitives) if record[0] == i[1]]
for k, ((node, _, skin, *_), p) in enumerate(instances):
    bind = np.insert(read(b'POSN', f32, p).astype(float), 3, 1, axis=1)
    for t, (form, scale) in enumerate(zip(read(b'TARG', u32, p)[:, 0], read(b'TARG', f32, p)[:, 2] / 32767)):
        delta = read(b'TPOS', np.int16, p, t) * scale if form & 2 else read(b'TPOS', f32, p, t)
        rows = read(b'TVTX', u32, p, t)[:, 0] if form & 1 else slice(None)
        if len(delta):
            bind[rows, :3] += read(b'RSTW', f32)[nodes[node][6] + t, 0] * delta
    out = bind @ world[node][:3].T
    if skin != 0xFFFFFFFF:
        palette = np.array(world)[read(b'JNTS', u32, skin)[:, 0]] @ square(read(b'IBND', f32, skin))
        v, j, w = influences(p, primitives[p][6], primitives[p][7] & 1)
        np.add.at(np.multiply(out, 0, out=out), v, w * np.einsum('nrc,nc->nr', palette[j, :3], bind[v]))
    print(f'{k}: node {nodes[node][1]}, min {out.min(0, initial=np.inf)}, max {out.max(0, initial=-np.inf)}')
    posed = np.load(sys.argv[2])[f'positions_{k}'] if len(sys.argv) > 2 else out
    if np.abs(out - posed).max(initial=0) > 1e-5 * np.abs(posed).max(initial=1e-9):
        sys.exit(f'primitive {k} is not what {sys.argv[2]} has')
