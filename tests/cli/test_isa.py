# SPDX-License-Identifier: MIT
"""--isa and PELT_ISA: which instruction sets the verbs that skin may use."""

NAMES = ('scalar', 'sse2', 'avx2', 'avx512', 'neon')


def isas(ctx, *words, **keywords):
    """What `pelt bench` may use, the best first."""
    return ctx.json(['bench', '--scenes', 'skin4k', '--vertices', '64', '--runs', '1', '--json', *words], **keywords)['isas']


def everything(ctx):
    """All that this processor has. The highest name of all is a cap that leaves nothing out."""
    return isas(ctx, '--isa', 'neon')


def test_a_name_is_a_cap(ctx):
    have = everything(ctx)
    assert have[-1] == 'scalar' and set(have) <= set(NAMES)
    for name in have:
        assert isas(ctx, '--isa', name) == have[have.index(name):], name


def test_a_name_with_a_dash_is_left_out(ctx):
    have = everything(ctx)
    for name in have[:-1]:
        assert isas(ctx, '--isa=-' + name) == [h for h in have if h != name]
    assert isas(ctx, '--isa', ','.join('-' + h for h in have[:-1]) or 'scalar') == ['scalar']
    if len(have) > 2:
        assert isas(ctx, '--isa', '%s,-%s' % (have[0], have[1])) == [h for h in have if h != have[1]]


def test_the_environment_counts_where_the_option_is_not_given(ctx):
    have = everything(ctx)
    assert isas(ctx, env={'PELT_ISA': 'scalar'}) == ['scalar']
    assert isas(ctx, '--isa', 'neon', env={'PELT_ISA': 'scalar'}) == have
    assert isas(ctx, env={'PELT_ISA': ''}) == have
    # A verb that does not skin does not read it.
    assert ctx.pelt(['inspect', ctx.gltf()], env={'PELT_ISA': 'nonsense'}).rc == 0


def test_what_is_no_name_is_refused(ctx):
    path = ctx.gltf()
    for text in ('avx3', 'best', 'AVX2', '-', '-scalar', 'avx2,', ',avx2', '--avx2', 'a' * 1000, 'avx2;sse2'):
        result = ctx.fails(['bounds', path, '--isa=' + text], 2, '--isa takes names out of scalar, sse2, avx2, avx512, neon')
        assert result.out == ''
    ctx.fails(['bounds', path], 2, 'PELT_ISA takes names', env={'PELT_ISA': 'avx3'})
    ctx.fails(['bounds', path, '--isa='], 2, '--isa is empty')
    ctx.fails(['inspect', path, '--isa', 'avx2'], 2, 'inspect takes no option --isa')


def test_a_cap_that_is_not_here_is_told(ctx):
    absent = [n for n in NAMES if n not in everything(ctx)]
    assert absent # no processor has all of two architectures
    result = ctx.pelt(['bounds', ctx.gltf(), '--isa', absent[0]])
    assert result.rc == 0 and 'warning: %s is not to be had here' % absent[0] in result.err, result.err


def test_verbs_use_what_they_are_told(ctx):
    """Fused products round differently, so some vertex of many shows which kernel made it."""
    assert ctx.pelt('gen octopus --vertices 3000 -o octopus.glb').rc == 0
    bytes_of = {}
    for name in everything(ctx):
        for words, env in ((['--isa', name], {}), ([], {'PELT_ISA': name})):
            out = ctx.tmp / ('%s%d.npz' % (name, bool(env)))
            result = ctx.pelt(['pose', 'octopus.glb', '--clip', '#0', '--time', '50%', '-o', out, *words], env=env)
            assert result.rc == 0, result.err
            bytes_of.setdefault(name, set()).add(out.read_bytes())
    assert all(len(found) == 1 for found in bytes_of.values())
    if 'avx2' in bytes_of:
        assert bytes_of['avx2'] != bytes_of['scalar']
    boxes = {n: ctx.json(['bounds', 'octopus.glb', '--clip', '#0', '--time', '50%', '--isa', n, '--json']) for n in bytes_of}
    for name in bytes_of:
        near = [abs(a - b) for side in ('min', 'max')
                for a, b in zip(boxes[name]['clips'][0]['box'][side], boxes['scalar']['clips'][0]['box'][side])]
        assert max(near) < 1e-5
