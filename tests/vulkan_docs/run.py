#!/usr/bin/env python3
"""Checks docs/vulkan.md: its GLSL compiles and reads what the C functions read, on a device; the names in it exist.

usage: run.py SOURCE BUILD SCRATCH      prints TAP
"""
import os
import re
import shutil
import subprocess
import sys

SOURCE, BUILD, SCRATCH = sys.argv[1:4]
PELT = os.path.join(BUILD, 'cli', 'pelt')
READER = os.path.join(BUILD, 'tests', 'read_streams')
EMPTY_MAIN = 'layout(local_size_x = 1) in;\nvoid main() {}\n'
GENERATED = {'octopus': ['octopus'], 'joints': ['octopus', '--joints', '400'], 'wide': ['wide'], 'deep': ['deep']}
# Input, options of `pelt cook`.
MODELS = [
    ('octopus', []), ('octopus', ['--weights', 'plain']), ('octopus', ['--direct-joints']), ('octopus', ['--morph16']),
    ('octopus', ['--keep-order', '--morph16']), ('wide', []), ('wide', ['--keep-order']), ('deep', []), ('joints', ['--direct-joints']),
    ('morphs.glb', []), ('morphs.glb', ['--morph16']), ('quantized.glb', []), ('bar.glb', []), ('rigid.gltf', []),
]
KINDS = {'normals', 'tangents', 'rigid', 'sorted', 'plain', 'ordered', 'unordered', 'layout0', 'layout1', 'layout2', 'extras',
         'unordered-extras', 'dense', 'dense16', 'sparse', 'sparse16'}
count = 0
failed = 0


def report(title, problem, skip=None):
    global count, failed
    count += 1
    failed += bool(problem)
    print('%s %d - %s%s' % ('not ok' if problem else 'ok', count, title, ' # SKIP ' + skip if skip else ''))
    for line in (problem or '').strip().split('\n')[:20]:
        if line:
            print('#   %s' % line)


def text(*parts):
    with open(os.path.join(SOURCE, *parts), encoding='utf-8') as f:
        return f.read()


def compile_glsl(source, output):
    run = subprocess.run(['glslc', '--target-env=vulkan1.2', '-Werror', '-fshader-stage=compute', '-o', output, '-'], input=source,
                         capture_output=True, text=True)
    return run.stderr if run.returncode else ''


def make_models():
    """Paths of .pelt files; every one that fails to be made is a failed test."""
    for name, arguments in GENERATED.items():
        path = os.path.join(SCRATCH, name + '.glb')
        subprocess.run([PELT, 'gen', *arguments, '--vertices', '3000', '-o', path], check=True, capture_output=True)
    with open(os.path.join(SCRATCH, 'rigid.gltf'), 'w', encoding='utf-8') as f:
        f.write('{"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],'
                '"accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],'
                '"bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36, "uri":'
                '"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}')
    for i, (name, options) in enumerate(MODELS):
        source = os.path.join(SCRATCH, name if '.' in name else name + '.glb')
        if not os.path.exists(source):
            source = os.path.join(SOURCE, 'tests', 'data', name)
        path = os.path.join(SCRATCH, '%d.pelt' % i)
        subprocess.run([PELT, 'cook', source, '--quiet', '--force', '-o', path] + options, check=True, capture_output=True)
        yield ' '.join([name] + options), path


def check_names():
    known = ''
    for name in sorted(os.listdir(os.path.join(SOURCE, 'include', 'pelt'))):
        known += text('include', 'pelt', name)
    names = set(re.findall(r'\b(?:pelt_vk|pelt_cooked|PELT)_\w+', text('docs', 'vulkan.md')))
    report('docs/vulkan.md names what the headers have (%d names)' % len(names),
           '\n'.join(sorted(n for n in names if not re.search(r'\b%s\b' % n, known))) if len(names) > 10 else 'too few names')


def check_streams(shader):
    seen = set()
    skipped = False
    for title, path in make_models():
        run = subprocess.run([READER, shader, path], capture_output=True, text=True, env=dict(os.environ, CMOCKA_MESSAGE_OUTPUT='TAP'))
        skip = 'no Vulkan device' if '# SKIP' in run.stdout and run.returncode == 0 else None
        skipped = skipped or bool(skip)
        for line in re.findall(r'^# kinds:(.*)$', run.stdout, re.M):
            seen |= set(line.split())
        passed = run.returncode == 0 and (skip or '\nok 1' in '\n' + run.stdout)
        report('the GLSL reads %s as C does' % title, None if passed else run.stdout + run.stderr or 'exit %d' % run.returncode, skip)
    report('every kind of stream was read', None if skipped else ' '.join(sorted(KINDS - seen)), 'no Vulkan device' if skipped else None)


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    shader = os.path.join(SCRATCH, 'check.spv')
    blocks = re.findall(r'^```glsl\n(.*?)^```$', text('docs', 'vulkan.md'), re.M | re.S)
    report('docs/vulkan.md has GLSL to read streams', '' if len(blocks) >= 8 else 'only %d blocks' % len(blocks))
    for i in range(len(blocks)):
        title = re.search(r'^(?:\w+ (\w+)\(|struct (\w+))', blocks[i], re.M)
        report('GLSL block %d compiles after those before it (%s)' % (i + 1, title and (title.group(1) or title.group(2))),
               compile_glsl('\n'.join(blocks[:i + 1]) + EMPTY_MAIN, shader))
    report('broken GLSL would be noticed',
           '' if compile_glsl('\n'.join(blocks) + 'vec3 broken() { return 1u; }\n' + EMPTY_MAIN, shader) else 'it compiled')
    problem = compile_glsl('\n'.join(blocks) + text('tests', 'vulkan_docs', 'check.comp'), shader)
    report('check.comp compiles after them', problem)
    check_names()
    if not problem:
        check_streams(shader)
    print('1..%d' % count)
    return 1 if failed else 0


sys.exit(main())
