#!/bin/sh
# Verifies every backend that is here over small files, and over the cases and models of a shared folder where there is
# one, packed in three ways. Prints TAP: one test for each file and packing.
# usage: run.sh PYTHON PELT SCRATCH DATA SHARED
#   Cases are the ones whose expectation says that they can be read. Models that cannot be read are left out: what is
#   refused is another test's matter.
set -u
python=$1
pelt=$2
scratch=$3
data=$4
shared=$5
rm -rf "$scratch"
mkdir -p "$scratch"
"$python" - "$data" "$shared" >"$scratch/list" <<'END'
import glob, json, os, sys
data, shared = sys.argv[1:]
for path in sorted(glob.glob(data + '/*.gl*')):
    print('data', path)
for path in sorted(glob.glob(shared + '/cases/*.expect.json')):
    expected = json.load(open(path))
    if expected['verdict'] in ('valid', 'warn'):
        print('case', os.path.join(os.path.dirname(path), expected['file']))
for folder, _, names in sorted(os.walk(shared + '/models')):
    for name in sorted(names):
        if name.endswith(('.glb', '.gltf', '.vrm')):
            print('model', os.path.join(folder, name))
END
# packing NAME OPTION...
packing() {
    name=$1
    shift
    sed 's/^[a-z]* //' "$scratch/list" | tr '\n' '\0' |
        xargs -0 -x "$pelt" verify --json --quiet "$@" >"$scratch/$name.json" 2>"$scratch/$name.err"
}
for kind in octopus wide worm; do
    "$pelt" gen "$kind" --quiet -o "$scratch/$kind.glb" >"$scratch/gen.txt" || exit 1
    echo "data $scratch/$kind.glb" >>"$scratch/list"
done
packing default --samples 32
packing keep-order --samples 4 --keep-order
packing direct --samples 4 --weights plain --direct-joints --morph16
"$python" - "$scratch" default keep-order direct <<'END'
import json, os, sys
scratch, packings = sys.argv[1], sys.argv[2:]
kinds = [line.split(' ', 1)[0] for line in open(scratch + '/list')]
count = failed = 0

def tell(good, text):
    global count, failed
    count += 1
    failed += not good
    print('%sok %d - %s' % ('' if good else 'not ', count, text))

for packing in packings:
    try:
        info = json.load(open('%s/%s.json' % (scratch, packing)))
    except ValueError:
        info = {'files': []}
    if len(info['files']) != len(kinds):
        tell(False, '%s: %d of %d files were told; see %s.err' % (packing, len(info['files']), len(kinds), packing))
        continue
    for kind, entry in zip(kinds, info['files']):
        name = '%s, %s' % (os.path.basename(entry['file']), packing)
        if entry['failure']:
            if kind != 'model':
                tell(False, '%s: %s' % (name, entry['failure']['message']))
        elif info['no_device'] and entry['within']:
            tell(True, '%s # SKIP the CPU alone was verified: %s' % (name, info['no_device']))
        else:
            tell(entry['within'], name)
        for backend in entry.get('backends', []):
            for check, found in backend.items():
                if isinstance(found, dict) and found.get('failed'):
                    print('# %s, %s: %s' % (backend['name'], check, json.dumps(found)))
    for backend in info['worst']:
        print('# %s, %s: positions off by %.3g of scale at most, normals by %.3g degrees, tangents by %.3g' % (
            packing, backend['name'], backend['positions']['largest_share'] or 0,
            backend['normals']['largest_degrees'] or 0, backend['tangents']['largest_degrees'] or 0))
print('1..%d' % count)
sys.exit(1 if failed or not count else 0)
END
