#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No kernel takes over 2 % more instructions than are recorded for the same compiler. Prints TAP.

usage: run.py BUILD RECORD [--record]      RECORD is bench/results/instructions.json; --record writes what is counted now

valgrind's callgrind counts, and does not know AVX-512: those kernels are counted by stepping through them, where the processor
has them. Both repeat exactly. A compiler or build type without a record skips, as does an instruction set that is not here.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 1.02
MARK = 'pelt_bench_counted'


def lines_of(command, **keywords):
    run = subprocess.run(command, capture_output=True, text=True, timeout=1200, **keywords)
    if run.returncode:
        raise RuntimeError('%s: exit %d: %s' % (' '.join(command), run.returncode, run.stderr[-300:]))
    head, *calls = [json.loads(line) for line in run.stdout.splitlines()]
    return head, calls


def count_with_callgrind(program):
    """Each call's counts are in a file of their own; the first call warms up."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out')
        head, calls = lines_of(['valgrind', '--tool=callgrind', '--vgdb=no', '--callgrind-out-file=' + out,
                                '--toggle-collect=' + MARK, '--dump-after=' + MARK, program])
        for i, call in enumerate(calls, 1):
            with open('%s.%d' % (out, i)) as f:
                call['instructions'] = int(re.search(r'^totals: (\d+)$', f.read(), re.M).group(1))
    return head, calls[1:]


def count(program, isas):
    """Name -> instructions per vertex or joint, and what there is no way to count here."""
    head, calls = count_with_callgrind(program)
    missing = {}
    for isa in isas:
        if isa in head['isas']:
            continue
        try:
            calls += lines_of([program, '--step', isa])[1][2:]  # after the warm-up and the empty call
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            missing[isa] = str(error).replace('\n', ' ')
    counts = {c['name']: round(c['instructions'] / c['elements'], 4) for c in calls}
    if not counts or min(counts.values()) <= 0:
        raise RuntimeError('nothing was counted: %s' % counts)
    return counts, missing


def write(path, record, compiler, counts):
    record['compilers'].setdefault(compiler, {}).update(counts)
    for key, values in record['compilers'].items():
        record['compilers'][key] = dict(sorted(values.items()))
    with open(path, 'w') as f:
        json.dump(record, f, indent=1)
        f.write('\n')


def judge(name, recorded, counted, isas, missing):
    """Good or not, and what to say."""
    isa = name.split('/')[1]
    if isa in missing:
        return True, '%s # SKIP cannot be counted here: %s' % (name, missing[isa])
    if isa not in isas:
        return True, '%s # SKIP this processor or build has no %s' % (name, isa)
    if counted is None:
        return False, '%s is recorded and not counted any more' % name
    if recorded is None:
        return False, '%s: %.2f, with no record; write it with --record' % (name, counted)
    return counted <= LIMIT * recorded, '%s: %.2f, recorded %.2f' % (name, counted, recorded)


def main():
    build, path = sys.argv[1:3]
    program = os.path.join(build, 'bench', 'pelt_bench_instructions')
    if not shutil.which('valgrind'):
        print('ok 1 - instructions # SKIP valgrind is not here\n1..1')
        return 0
    record = {'schema': 'pelt/instructions/1', 'unit': 'instructions per vertex or joint', 'compilers': {}}
    if os.path.exists(path):
        with open(path) as f:
            record = json.load(f)
    head = lines_of([program])[0]
    recorded = record['compilers'].get(head['compiler'])
    recording = '--record' in sys.argv
    if recorded is None and not recording:
        print('ok 1 - instructions # SKIP none are recorded for %s\n1..1' % head['compiler'])
        return 0
    counts, missing = count(program, head['isas'])
    if recording:
        write(path, record, head['compiler'], counts)
        print('recorded %d counts for %s' % (len(counts), head['compiler']))
        return 0
    names = sorted(set(recorded) | set(counts))
    failed = 0
    for i, name in enumerate(names, 1):
        good, text = judge(name, recorded.get(name), counts.get(name), head['isas'], missing)
        print('%s %d - %s' % ('ok' if good else 'not ok', i, text))
        failed += not good
    print('1..%d' % len(names))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
