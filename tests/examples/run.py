#!/usr/bin/env python3
"""Runs examples/vulkan_minimal under the validation layer and compares the box that it prints with `pelt bounds`.

usage: run.py SOURCE BUILD SCRATCH      prints TAP
"""
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys

SOURCE, BUILD, SCRATCH = sys.argv[1:4]
PELT = os.path.join(BUILD, 'cli', 'pelt')
EXAMPLE = os.path.join(BUILD, 'examples', 'vulkan_minimal')
LAYER = 'VK_LAYER_KHRONOS_validation'
TOLERANCE = 1e-6  # of the larger of the diagonal and the largest coordinate
count = 0
failed = 0


def report(title, problem='', skip=None):
    global count, failed
    count += 1
    failed += bool(problem)
    print('%s %d - %s%s' % ('not ok' if problem else 'ok', count, title, ' # SKIP ' + skip if skip else ''))
    for line in (problem or '').strip().split('\n')[:20]:
        if line:
            print('#   %s' % line)


def run(*arguments, **environment):
    return subprocess.run(arguments, capture_output=True, text=True, env=dict(os.environ, **environment))


def validated(path):
    """Runs the example with core and synchronization checks; what it printed, and what the layer wrote."""
    log = os.path.join(SCRATCH, 'validation.log')
    settings = os.path.join(SCRATCH, 'vk_layer_settings.txt')
    with open(settings, 'w', encoding='utf-8') as f:
        f.write('khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n'
                'khronos_validation.log_filename = %s\n'
                'khronos_validation.report_flags = error,warn,perf,info\n'
                'khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n' % log)
    if os.path.exists(log):
        os.remove(log)
    out = run(EXAMPLE, path, VK_INSTANCE_LAYERS=LAYER, VK_LAYER_SETTINGS_PATH=settings)
    return out, open(log, encoding='utf-8').read() if os.path.exists(log) else ''


def parse(line):
    found = re.fullmatch(r'min (\S+) (\S+) (\S+) max (\S+) (\S+) (\S+)\n', line)
    return [float(x) for x in found.groups()] if found else None


def bounds(path, clip, *device):
    moment = ['--clip', '#0', '--time', '0.5'] if clip else []
    out = run(PELT, 'bounds', path, '--json', *moment, *device)
    if out.returncode:
        return None, out
    data = json.loads(out.stdout)
    box = data['clips'][0]['primitives'][0]['box']
    return box['min'] + box['max'], out


def distance(a, b):
    """Largest difference of a from b, relative to the size of b."""
    scale = max([math.dist(b[:3], b[3:])] + [abs(x) for x in b])
    return max(abs(x - y) for x, y in zip(a, b)) / scale


def same_bits(a, b):
    return struct.pack('6f', *a) == struct.pack('6f', *b)


def write_rigid(path):
    """A triangle from (0, 0, 0) to (1, 1, 0) on a node that stands at x = 5, without skin and clip."""
    with open(path, 'w', encoding='utf-8') as f:
        f.write('{"asset": {"version": "2.0"}, "nodes": [{"mesh": 0, "translation": [5, 0, 0]}], "meshes": [{"primitives":'
                '[{"attributes": {"POSITION": 0}}]}], "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",'
                '"min": [0, 0, 0], "max": [1, 1, 0]}], "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36,'
                '"uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}')


def check_model(title, source, clip):
    path = os.path.join(SCRATCH, os.path.basename(source) + '.pelt')
    cook = run(PELT, 'cook', source, '--quiet', '--force', '-o', path)
    if cook.returncode:
        report('%s is cooked' % title, cook.stderr)
        return
    out, log = validated(path)
    box = parse(out.stdout)
    report('%s: a box is printed' % title, '' if out.returncode == 0 and box else out.stdout + out.stderr or 'exit %d' % out.returncode)
    if not box:
        return
    active = 'SYNCHRONIZATION_VALIDATION' in log
    messages = [line for line in log.split('\n') if re.search(r'Validation (Error|Warning|Performance)|VUID|SYNC-HAZARD', line)]
    if active or 'PELT_TEST_REQUIRE_VALIDATION' in os.environ:
        report('%s: the validation layer has nothing to say' % title,
               '\n'.join(messages) if active else 'it was not active: ' + log + out.stderr)
    else:
        report('%s: the validation layer has nothing to say' % title, skip='no validation layer')
    wanted, told = bounds(path, clip)
    report('%s: the box is that of the CPU within %g' % (title, TOLERANCE),
           told.stderr if not wanted else '' if distance(box, wanted) <= TOLERANCE else '%s, not %s' % (box, wanted))
    device, told = bounds(path, clip, '--device', '0')
    report('%s: the box is that of pelt bounds on the same device, bit for bit' % title,
           told.stderr or 'no box' if not device else '' if same_bits(box, device) else '%s, not %s' % (box, device))


def check_refusals(path):
    for title, arguments in (('no argument', []), ('a missing file', [os.path.join(SCRATCH, 'missing.pelt')]),
                             ('a file that is none', [os.path.join(SOURCE, 'README.md')])):
        out = run(EXAMPLE, *arguments)
        fine = out.returncode == 1 and out.stderr.startswith('vulkan_minimal: ') and len(out.stderr) > 20 and not out.stdout
        report('%s is told' % title, '' if fine else 'exit %d: %s' % (out.returncode, out.stderr))
    out = run(EXAMPLE, path, VK_ICD_FILENAMES='/dev/null', VK_DRIVER_FILES='/dev/null')
    fine = out.returncode == 1 and out.stderr.startswith('vulkan_minimal: ')
    report('a machine without a device is told', '' if fine else 'exit %d: %s' % (out.returncode, out.stderr))


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    with open(os.path.join(SOURCE, 'examples', 'vulkan_minimal.c'), encoding='utf-8') as f:
        lines = len(f.readlines())
    report('examples/vulkan_minimal.c is under 150 lines', '' if lines < 150 else '%d lines' % lines)
    for kind in ('octopus', 'worm', 'wide'):
        made = run(PELT, 'gen', kind, '-o', os.path.join(SCRATCH, kind + '.glb'))
        report('%s is made' % kind, made.stderr if made.returncode else '')
    write_rigid(os.path.join(SCRATCH, 'rigid.gltf'))
    # The example takes the first device; the command's list has the processor too, without an index.
    devices = json.loads(run(PELT, 'devices', '--json').stdout)['devices']
    if not any(d['index'] == 0 and d['usable'] for d in devices):
        report('vulkan_minimal', skip='the first Vulkan device is missing or not usable')
    else:
        for kind in ('octopus', 'worm', 'wide'):
            check_model(kind, os.path.join(SCRATCH, kind + '.glb'), True)
        check_model('rigid', os.path.join(SCRATCH, 'rigid.gltf'), False)
        check_refusals(os.path.join(SCRATCH, 'octopus.glb.pelt'))
    print('1..%d' % count)
    return 1 if failed else 0


sys.exit(main())
