#!/usr/bin/env python3
"""Checks the repository itself: include edges, headers that compile alone, file heads and sizes, formatting, README code.

usage: run.py SOURCE BUILD      prints TAP
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = sys.argv[1], sys.argv[2]
RESULTS = []


def test(title):
    def wrap(function):
        problems = function()
        RESULTS.append((title, problems))
        return function
    return wrap


def tracked(*endings):
    """Paths of the project's own files; walks the folders, so that a source archive without git will do."""
    names = []
    for folder, inner, files in os.walk(SOURCE):
        inner[:] = sorted(d for d in inner if d not in ('.git', 'build', 'out', 'node_modules', '__pycache__')
                          and not d.startswith('build-'))
        names += [os.path.relpath(os.path.join(folder, f), SOURCE) for f in sorted(files)]
    return [n for n in names if n.endswith(endings)]


def text(name):
    with open(os.path.join(SOURCE, name), encoding='utf-8') as f:
        return f.read()


def allowed_edges():
    """The table in docs/architecture.md: module -> modules it may include."""
    table = {}
    for line in text('docs/architecture.md').split('\n'):
        cells = [c.strip() for c in line.split('|')]
        if len(cells) == 5 and re.fullmatch(r'`\w+`', cells[1]):
            table[cells[1].strip('`')] = set(cells[3].split()) - {'–'}
    return table


@test('modules include only what docs/architecture.md allows')
def _():
    table, problems = allowed_edges(), []
    modules = {n.split('/')[1] for n in tracked('.c', '.h') if n.startswith('src/')}
    problems += ['module %s is not in the table' % m for m in sorted(modules - set(table))]
    for name in tracked('.c', '.h'):
        part = name.split('/')
        for bracket, include in re.findall(r'#include ([<"])([^>"]+)[>"]', text(name)):
            other = include.split('/')[0]
            if bracket == '<' and other == 'vulkan':
                continue # Vulkan's own headers; another test looks at them
            if part[0] == 'src':
                module = part[1]
                public = re.fullmatch(r'pelt/(\w+)\.h', include)
                if public:
                    other = {'builder': 'asset', 'packed': 'math'}.get(public.group(1), public.group(1))
                elif '/' not in include:
                    continue
                if other in table and other != module and other not in table.get(module, set()):
                    problems.append('%s includes %s' % (name, include))
                if include.endswith('_internal.h') and '/' in include and other != module:
                    problems.append('%s includes the inside of %s' % (name, other))
            elif part[0] in ('cli', 'viewer', 'bench', 'examples') and '/' in include and other in table:
                problems.append('%s includes %s; only <pelt/...> is public' % (name, include))
    return problems


@test('only gltf and the command see JSON')
def _():
    return [n for n in tracked('.c', '.h') if n.startswith(('src/', 'include/')) and not n.startswith('src/gltf/')
            and 'jansson.h' in text(n)]


@test('Vulkan is seen by its module, its header, and files that are named for it')
def _():
    may = re.compile(r'src/vulkan/|include/pelt/vulkan\.h$|(cli|bench)/\w*(gpu|vulkan)\w*\.[ch]$|'
                     r'bench/baselines/(vk_\w+\.[ch]|vulkan\.h)$|tests/|examples/')
    includes = re.compile(r'#include <(vulkan/|pelt/vulkan\.h>)')
    problems = [n for n in tracked('.c', '.h') if includes.search(text(n)) and not may.match(n)]
    return problems + ([] if includes.search(text('include/pelt/vulkan.h')) else ['the look for it finds nothing'])


@test('public headers compile alone as C17 and C++17')
def _():
    problems = []
    compilers = [(c, s) for c, s in (('gcc', 'c17'), ('g++', 'c++17'), ('clang', 'c17'), ('clang++', 'c++17'))
                 if shutil.which(c)]
    for name in tracked('.h'):
        if not name.startswith('include/pelt/'):
            continue
        for compiler, standard in compilers:
            run = subprocess.run([compiler, '-std=' + standard, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-I',
                                  os.path.join(SOURCE, 'include'), '-fsyntax-only', '-x',
                                  'c++' if '++' in compiler else 'c', '-'],
                                 input='#include <%s>\n' % name[len('include/'):], capture_output=True, text=True)
            if run.returncode:
                problems.append('%s with %s: %s' % (name, compiler, run.stderr.strip()[:200]))
    return problems


@test('every source file begins with its licence and says what it does')
def _():
    problems = []
    for name in tracked('.c', '.cc', '.h', '.comp', '.glsl'):
        lines = text(name).split('\n')
        if lines[0] != '// SPDX-License-Identifier: MIT' or not lines[1].startswith('// '):
            problems.append(name)
    return problems


@test('no file is over 800 lines, no line of C and GLSL over 120 characters')
def _():
    problems = []
    for name in tracked('.c', '.cc', '.h', '.py', '.sh', '.mjs', '.comp', '.glsl'):
        lines = text(name).split('\n')
        if len(lines) > 800:
            problems.append('%s has %d lines' % (name, len(lines)))
        widest = 120 if name.endswith(('.c', '.cc', '.h', '.comp', '.glsl')) else 140
        problems += ['%s:%d' % (name, i + 1) for i, line in enumerate(lines) if len(line) > widest]
    return problems


@test('C files are formatted by clang-format 14')
def _():
    tool = shutil.which('clang-format-14') or shutil.which('clang-format')
    if not tool:
        return None
    version = subprocess.run([tool, '--version'], capture_output=True, text=True).stdout
    if ' 14.' not in version:
        return None
    files = [os.path.join(SOURCE, n) for n in tracked('.c', '.cc', '.h')]
    run = subprocess.run([tool, '--dry-run', '-Werror'] + files, capture_output=True, text=True)
    return sorted({line.split(':')[0] for line in run.stderr.split('\n') if ': error:' in line})


@test('nothing is left to do later')
def _():
    pattern = re.compile(r'\b(TO' r'DO|FIX' r'ME|X' r'XX)\b')
    return [n for n in tracked('.c', '.cc', '.h', '.py', '.sh', '.md', '.txt', '.cmake') if pattern.search(text(n))]


@test('every dependency is named in docs/dependencies.md')
def _():
    described = text('docs/dependencies.md')
    packages = set()
    for name in ('scripts/common.sh', 'test.sh', '.ci/run', 'demo.sh'):
        for line in text(name).replace('\\\n', ' ').split('\n'):
            found = re.search(r'(?:build_packages="([^"]*)"|\bneed_packages ([$a-z][^;&|#]*))', line)
            if found:
                words = (found.group(1) or found.group(2)).split()
                packages |= {w for w in words if re.fullmatch(r'[a-z0-9][a-z0-9.+-]+', w)}
    if not {'gcc', 'libcmocka-dev', 'clang-format'} <= packages:
        return ['the look for packages finds only %s' % sorted(packages)]
    return sorted(p for p in packages if '`%s`' % p not in described)


@test('the README names every verb that the command has')
def _():
    pelt = os.path.join(BUILD, 'cli', 'pelt')
    out = subprocess.run([pelt, '--help'], capture_output=True, text=True).stdout
    verbs = re.findall(r'^  ([a-z]+)  +[a-z]', out, re.M)
    problems = [] if len(verbs) >= 7 else ['--help names only %s' % verbs]
    return problems + [v for v in verbs if 'pelt %s' % v not in text('README.md')]


@test('the examples of the README work as they stand')
def _():
    examples = re.findall(r'^\| [a-z]+ \| `pelt ([^`]+)`', text('README.md'), re.M)
    pelt = os.path.join(BUILD, 'cli', 'pelt')
    problems = [] if len(examples) >= 4 else ['only %d examples found' % len(examples)]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([pelt, 'gen', 'worm', '-o', 'fox.glb'], cwd=folder, check=True, capture_output=True)
        path = os.path.join(folder, 'fox.glb')
        data = open(path, 'rb').read().replace(b'"wriggle"', b'"Run"    ')
        open(path, 'wb').write(data)
        for example in examples:
            run = subprocess.run([pelt] + example.split(), cwd=folder, capture_output=True, text=True)
            problems += [] if run.returncode == 0 else ['pelt %s: %s' % (example, run.stderr)]
    return problems


@test('demo.sh takes files of any name')
def _():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        # The script itself, beside a build that is there already.
        os.makedirs(os.path.join(folder, 'scripts'))
        os.makedirs(os.path.join(folder, 'build', 'demo', 'cli'))
        os.symlink(os.path.join(BUILD, 'cli', 'pelt'), os.path.join(folder, 'build', 'demo', 'cli', 'pelt'))
        with open(os.path.join(folder, 'scripts', 'common.sh'), 'w') as f:
            f.write(text('scripts/common.sh') + '\nneed_packages() { :; }\nbuild() { :; }\n')
        with open(os.path.join(folder, 'demo.sh'), 'w') as f:
            f.write(text('demo.sh'))
        names = ['plain.glb', '-dash.glb', '--json.glb', 'two words.glb', "it's.glb", '$HOME;*.glb', 'new\nline.glb', '#0.glb']
        subprocess.run([os.path.join(BUILD, 'cli', 'pelt'), 'gen', 'worm', '-o', names[0]], cwd=folder, check=True,
                       capture_output=True)
        model = open(os.path.join(folder, names[0]), 'rb').read()
        for name in names:
            open(os.path.join(folder, name), 'wb').write(model)
            run = subprocess.run(['sh', './demo.sh', name], cwd=folder, capture_output=True, text=True)
            problems += [] if run.returncode == 0 else ['%r: %s' % (name, run.stderr)]
        for name in ('missing.glb', 'scripts', ''):
            run = subprocess.run(['sh', './demo.sh', name], cwd=folder, capture_output=True, text=True)
            problems += [] if run.returncode == 1 and 'demo.sh: ' in run.stderr else ['%r: exit %d' % (name, run.returncode)]
    return problems


@test('the man page is made from the option table and reads cleanly')
def _():
    page = os.path.join(BUILD, 'cli', 'pelt.1')
    if not os.path.isfile(page):
        return ['%s is missing' % page]
    out = subprocess.run([os.path.join(BUILD, 'cli', 'pelt'), '--help'], capture_output=True, text=True).stdout
    roff = open(page, encoding='utf-8').read().replace('\\-', '-')
    options = set(re.findall(r'--[a-z][a-z-]+', out))
    return ['%s is in --help only' % o for o in sorted(options) if o not in roff]


failed = 0
for i, (title, problems) in enumerate(RESULTS, 1):
    if problems is None:
        print('ok %d - %s # SKIP the tool is not here' % (i, title))
        continue
    print('%s %d - %s' % ('not ok' if problems else 'ok', i, title))
    for problem in problems[:20]:
        print('#   %s' % problem)
    failed += bool(problems)
print('1..%d' % len(RESULTS))
sys.exit(1 if failed else 0)
