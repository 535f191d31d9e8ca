#!/bin/sh
# Looks at every shader module as it is embedded in the library: valid for Vulkan 1.2, no atomics, no descriptors, and nothing that
# pelt_vk_requirements does not ask for. Shaders made to break each rule show that the look finds it. Prints TAP.
# usage: run.sh SOURCE BUILD SCRATCH
set -u
source=$1
build=$2
scratch=$3
n=0

# module INC OUT: the words of a C initialiser as a SPIR-V file.
module() {
    python3 -c 'import re, struct, sys
words = [int(w, 16) for w in re.findall(r"0x[0-9a-f]{8}\b", open(sys.argv[1]).read())]
open(sys.argv[2], "wb").write(struct.pack("<%dI" % len(words), *words))' "$1" "$2"
}

# problems SPV: one line for each rule that the module breaks.
problems() {
    spirv-val --target-env vulkan1.2 --scalar-block-layout "$1" >"$1.log" 2>&1 || sed 's/^/invalid: /' "$1.log"
    spirv-dis --raw-id --no-color "$1" >"$1.txt" 2>"$1.log" || sed 's/^/cannot be read: /' "$1.log"
    grep -qE 'OpEntryPoint GLCompute %[0-9]+ "main"' "$1.txt" || echo 'it has no compute entry point "main"'
    grep -E '\bOpAtomic' "$1.txt"
    grep -E '\b(DescriptorSet|Binding)\b' "$1.txt"
    grep -E '\bOp(Name|MemberName|Source|SourceExtension|String|Line)\b' "$1.txt"
    grep -E '\bOpCapability\b' "$1.txt" |
        grep -vE ' (Shader|PhysicalStorageBufferAddresses|GroupNonUniform|GroupNonUniformArithmetic)$'
    grep -E '\bOpExtension\b' "$1.txt" | grep -v '"SPV_KHR_physical_storage_buffer"'
}

report() {
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /' | head -n 20
    fi
}

# caught TITLE PATTERN: the shader on standard input, built as those of the library, must break the rule that PATTERN tells.
caught() {
    { printf '#version 460\nlayout(local_size_x = 64) in;\n' && cat; } >"$scratch/bad.comp"
    glslc --target-env=vulkan1.2 -O -Werror -mfmt=c -o "$scratch/bad.inc" "$scratch/bad.comp" >"$scratch/bad.log" 2>&1 &&
        module "$scratch/bad.inc" "$scratch/bad.spv" && problems "$scratch/bad.spv" >"$scratch/bad.log" 2>&1
    found=$(grep -E "$2" "$scratch/bad.log") || found=
    report "$1 is found" "$([ -n "$found" ] || { echo "nothing says $2:"; cat "$scratch/bad.log"; })"
}

for tool in glslc spirv-val spirv-dis python3; do
    command -v $tool >/dev/null || { echo "ok 1 # SKIP $tool is not here"; echo "1..1"; exit 0; }
done
rm -rf "$scratch"
mkdir -p "$scratch"

names=$(cd "$source/src/vulkan/shaders" && ls -- *.comp | LC_ALL=C sort)
embedded=$(sed -n 's/^#include "\(.*\)\.inc"$/\1/p' "$source/src/vulkan/pipelines.c" | LC_ALL=C sort)
report "every shader is embedded, and nothing else" "$([ "$names" = "$embedded" ] || echo "$names is not" "$embedded")"
for name in $names; do
    module "$build/shaders/$name.inc" "$scratch/$name.spv" 2>"$scratch/$name.log"
    report "$name is valid, without atomics and descriptors, and needs nothing that is not asked for" \
        "$(cat "$scratch/$name.log"; problems "$scratch/$name.spv" 2>&1)"
done

caught "an atomic on a buffer" OpAtomicIAdd <<'END'
#extension GL_EXT_buffer_reference : require
layout(buffer_reference) buffer counter { uint value; };
layout(push_constant) uniform constants { counter at; };
void main() { atomicAdd(at.value, 1); }
END
caught "an atomic on shared memory" OpAtomicUMax <<'END'
#extension GL_EXT_buffer_reference : require
layout(buffer_reference) buffer counter { uint value; };
layout(push_constant) uniform constants { counter at; };
shared uint most;
void main() { atomicMax(most, gl_LocalInvocationIndex); barrier(); at.value = most; }
END
caught "a descriptor" DescriptorSet <<'END'
layout(set = 0, binding = 0) buffer block { uint value[]; };
void main() { value[gl_GlobalInvocationID.x] = 1; }
END
caught "64-bit integers" 'OpCapability Int64' <<'END'
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(buffer_reference) buffer counter { uint64_t value; };
layout(push_constant) uniform constants { counter at; };
void main() { at.value = 1ul; }
END
caught "a subgroup operation beyond arithmetic" 'OpCapability GroupNonUniformShuffle' <<'END'
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(buffer_reference) buffer counter { uint value[]; };
layout(push_constant) uniform constants { counter at; };
void main() { at.value[gl_LocalInvocationIndex] = subgroupShuffle(gl_LocalInvocationIndex, 0); }
END
head -c 200 "$scratch/bad.spv" >"$scratch/cut.spv"
report "a module that is cut short is found" "$([ -n "$(problems "$scratch/cut.spv" 2>&1)" ] || echo "it passes")"
echo "1..$n"
