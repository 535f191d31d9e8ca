# SPDX-License-Identifier: MIT
"""`pelt devices`, and --device: with no loader, with no driver, with made-up devices, and on the Vulkan device there is
(that of PELT_TEST_DEVICE, else what --device gpu takes), where the tests of pose and bounds must hold as they do on the
CPU."""
import json
import os
import pathlib
import shutil
import subprocess

import export_read as read
import test_bounds
import test_pose
from gltf_build import Gltf, bar

FAKE = pathlib.Path(__file__).resolve().parent / "fake_vulkan.c"
DEVICE_KEYS = ["brought_by", "driver", "driver_version", "index", "memory", "missing", "name", "software",
               "subgroup_size", "type", "usable", "vulkan"]


def without_loader(ctx):
    """Environment in which libvulkan cannot be loaded"""
    (ctx.tmp / "lib").mkdir(exist_ok=True)
    (ctx.tmp / "lib" / "libvulkan.so.1").write_bytes(b"")
    return {"LD_LIBRARY_PATH": str(ctx.tmp / "lib")}


def made_up(ctx, devices):
    """Environment with made-up devices; see fake_vulkan.c"""
    library = ctx.tmp / "lib" / "libvulkan.so.1"
    if not library.exists():
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            ctx.skip("there is no C compiler to make up devices with")
        library.parent.mkdir()
        subprocess.run([compiler, "-std=c17", "-shared", "-fPIC", "-o", library, FAKE], check=True)
    return {"LD_LIBRARY_PATH": str(library.parent), "PELT_FAKE_VULKAN": devices}


def real_device(ctx):
    """What --device takes for the Vulkan device to test on"""
    named = os.environ.get("PELT_TEST_DEVICE")
    if named:
        return named
    index = ctx.json("devices --json")["gpu"]
    if index is None:
        ctx.skip("there is no usable Vulkan device")
    return str(index)


# ---- without devices


def check_nothing_there(ctx, env, package):
    ctx.gltf()
    result = ctx.pelt("devices", env=env)
    assert result.rc == 0 and result.err == ""
    assert [line.split()[0] for line in result.out.splitlines()[:2]] == ["device", "cpu"]
    assert package in result.out
    listed = ctx.json("devices --json", env=env)
    cpu, = listed["devices"]
    assert listed["gpu"] is None and listed["problem"] and package in listed["hint"]
    assert cpu["name"] == "cpu" and cpu["index"] is None and cpu["usable"] is True
    for words in ("devices --device gpu", "bounds bar.gltf --device 0", "pose bar.gltf -o a.glb --device nvidia"):
        ctx.fails(words, 6, package, listed["problem"], env=env)
        error = ctx.json(words + " --json", rc=6, env=env)
        assert error["schema"] == "pelt/error/1" and error["name"] == "NO_DEVICE" and package in error["hint"]
    for words in ("devices --device cpu", "bounds bar.gltf", "bounds bar.gltf --device cpu"):
        assert ctx.pelt(words, env=env).rc == 0
    assert not (ctx.tmp / "a.glb").exists()


def test_without_a_loader_the_cpu_is_left_and_the_package_is_named(ctx):
    env = without_loader(ctx)
    check_nothing_there(ctx, env, "libvulkan1")
    assert ctx.json("devices --json", env=env)["loader"] is None


def test_without_a_driver_the_package_is_named(ctx):
    if ctx.json("devices --json")["loader"] is None:
        ctx.skip("there is no Vulkan loader")
    missing = str(ctx.tmp / "none.json")
    check_nothing_there(ctx, {"VK_ICD_FILENAMES": missing, "VK_DRIVER_FILES": missing}, "mesa-vulkan-drivers")


def test_without_a_device_the_package_is_named(ctx):
    check_nothing_there(ctx, made_up(ctx, ""), "mesa-vulkan-drivers")


def test_a_driver_that_does_not_load_is_named(ctx):
    if ctx.json("devices --json")["loader"] is None:
        ctx.skip("there is no Vulkan loader")
    manifest = ctx.tmp / "lost.json"
    manifest.write_text(json.dumps({"file_format_version": "1.0.0",
                                    "ICD": {"library_path": str(ctx.tmp / "lost.so"), "api_version": "1.3.0"}}))
    env = {"VK_ICD_FILENAMES": str(manifest), "VK_DRIVER_FILES": str(manifest)}
    listed = ctx.json("devices --json", env=env)
    assert listed["gpu"] is None and str(manifest) in listed["problem"]
    assert "VK_LOADER_DEBUG=error,warn" in listed["hint"] and "apt install" not in listed["hint"]
    ctx.gltf()
    ctx.fails("pose bar.gltf -o a.glb --device gpu", 6, str(manifest), "VK_LOADER_DEBUG=error,warn", env=env)
    # What the hint promises
    assert "lost.so" in ctx.pelt("devices", env={**env, "VK_LOADER_DEBUG": "error,warn"}).err


def test_drivers_are_looked_for_where_the_loader_does(ctx):
    names = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS")
    empty = {name: str(ctx.tmp / "nothing") for name in names}
    env = {**made_up(ctx, ""), "PELT_FAKE_VULKAN_FAILS": "1", "VK_DRIVER_FILES": "", "VK_ICD_FILENAMES": "",
           "VK_ADD_DRIVER_FILES": "", "HOME": str(ctx.tmp / "home"), **empty}

    def make(*words):
        path = ctx.tmp.joinpath(*words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        return str(path)

    def problem(**more):
        return ctx.json("devices --json", env={**env, **more})["problem"]

    one = make("one", "vulkan", "icd.d", "b.json")
    two = make("two", "vulkan", "icd.d", "a.json")
    make("two", "vulkan", "icd.d", "readme.txt")
    for name in names:
        told = problem(**{name: "%s::%s" % (ctx.tmp / "one", ctx.tmp / "two")})
        assert one + ", " + two in told and "readme" not in told, told
    home = [make("home", folder, "vulkan", "icd.d", "h.json") for folder in (".config", ".local/share")]
    told = problem(XDG_CONFIG_HOME="", XDG_DATA_HOME="")
    assert all(path in told for path in home), told
    assert one in problem(VK_ADD_DRIVER_FILES=one)
    # These come in place of all folders; the older name counts where the newer says nothing.
    missing = str(ctx.tmp / "missing.json")
    told = problem(XDG_DATA_DIRS=str(ctx.tmp / "one"), VK_ICD_FILENAMES=one, VK_DRIVER_FILES="%s:%s" % (missing, two))
    assert two in told and one not in told and missing not in told, told
    assert one in problem(VK_ICD_FILENAMES=one)
    told = problem(VK_DRIVER_FILES=missing)
    assert ".json" not in told, told
    # More than a line can hold: those that fit are told whole.
    many = [make("many", "vulkan", "icd.d", "%02d%s.json" % (i, "x" * 60)) for i in range(20)]
    told = problem(XDG_DATA_DIRS=str(ctx.tmp / "many"))
    assert many[0] in told and many[-1] not in told and told.endswith(".json"), told


# ---- made-up devices


def test_text_of_the_list(ctx):
    env = made_up(ctx, "cpu,discrete:address,integrated,discrete:version,virtual:shared,other")
    lines = ctx.pelt("devices", env=env).out.splitlines()
    lines[1] = "cpu     (threads of this machine)"
    ctx.golden("devices.txt", "\n".join(lines) + "\n")


def test_json_of_the_list(ctx):
    listed = ctx.json("devices --json", env=made_up(ctx, "cpu,discrete:address"))
    assert sorted(listed) == ["devices", "gpu", "hint", "loader", "problem", "schema", "warnings"]
    assert listed["schema"] == "pelt/devices/1" and listed["loader"] == "1.3.250" and listed["gpu"] == 0
    assert listed["problem"] is None and listed["hint"] is None
    cpu, software, discrete = listed["devices"]
    assert all(sorted(d) == DEVICE_KEYS for d in listed["devices"])
    assert {k: software[k] for k in DEVICE_KEYS if k != "missing"} == {
        "index": 0, "name": "Fake cpu A", "type": "software", "software": True, "driver": "fakedrv",
        "driver_version": "Fake 1.2.3", "vulkan": "1.3.7", "subgroup_size": 32, "memory": 3 << 30, "usable": True,
        "brought_by": None}
    assert not any(need["required"] for need in software["missing"])
    assert discrete["usable"] is False and "mesa-vulkan-drivers" in discrete["brought_by"]
    needed, = (need for need in discrete["missing"] if need["required"])
    assert needed["name"] == "bufferDeviceAddress" and needed["kind"] == "feature" and needed["lost"]


def chosen(ctx, devices, selector, rc=0):
    env = made_up(ctx, devices)
    if rc:
        return ctx.fails(["devices", "--device", selector], rc, env=env).err
    device, = ctx.json(["devices", "--json", "--device", selector], env=env)["devices"]
    return device["index"]


def test_gpu_is_the_first_usable_one_by_its_kind(ctx):
    for devices, index in (("cpu,integrated,discrete,discrete", 2), ("virtual,integrated,cpu", 1), ("cpu,virtual", 1),
                           ("cpu,other", 1), ("discrete:address,integrated,cpu", 1), ("discrete:address,cpu", 1),
                           ("cpu,cpu", 0)):
        assert chosen(ctx, devices, "gpu") == index, devices
        assert ctx.json("devices --json", env=made_up(ctx, devices))["gpu"] == index, devices


def test_a_software_device_in_place_of_a_gpu_is_told(ctx):
    env = made_up(ctx, "discrete:address,cpu")
    result = ctx.pelt("devices --device gpu", env=env)
    assert "warning: there is no usable GPU: Fake cpu B stands in for it, in software" in result.err
    warning, = ctx.json("devices --device gpu --json", env=env)["warnings"]
    assert "in software" in warning["message"]
    assert ctx.json("devices --device 1 --json", env=env)["warnings"] == []


def test_a_device_that_lacks_something_is_refused_with_its_name(ctx):
    for lack, name in (("address", "it lacks bufferDeviceAddress"), ("version", "it lacks Vulkan 1.2"),
                       ("shared", "it lacks maxComputeSharedMemorySize")):
        for selector in ("0", "gpu", "fake"):
            message = chosen(ctx, "discrete:" + lack, selector, rc=6)
            assert "device 0, Fake discrete A, cannot be used: " + name in message, message


def test_keywords_count_in_either_case(ctx):
    env = made_up(ctx, "cpu,discrete")
    assert chosen(ctx, "cpu,discrete", "GPU") == 1
    assert ctx.pelt("devices --device Cpu", env=env).out == ctx.pelt("devices --device cpu", env=env).out
    assert ctx.pelt("devices --device ALL", env=env).out == ctx.pelt("devices", env=env).out
    ctx.gltf()
    for words in ("bounds bar.gltf --device all", "pose bar.gltf -o a.glb --device All"):
        ctx.fails(words, 2, "--device all is for devices and verify", env=env)


def test_devices_by_number_and_by_a_part_of_the_name(ctx):
    devices = "integrated,discrete,discrete"
    assert chosen(ctx, devices, "2") == 2 and chosen(ctx, devices, "INTEGRATED") == 0
    assert chosen(ctx, devices, "discrete c") == 2
    message = chosen(ctx, devices, "discrete", rc=6)
    assert '2 devices answer to "discrete": 1: Fake discrete B, 2: Fake discrete C' in message
    for absent in ("3", "99999999999999999999", "radeon"):
        message = chosen(ctx, devices, absent, rc=6)
        assert "0: Fake integrated A, 1: Fake discrete B, 2: Fake discrete C" in message


def test_a_device_that_cannot_be_opened_is_told_and_nothing_is_written(ctx):
    ctx.gltf()
    result = ctx.fails("pose bar.gltf -o a.npz --device 0", 6, "Fake discrete A: vkCreateDevice failed",
                       env=made_up(ctx, "discrete"))
    assert result.out == "" and not (ctx.tmp / "a.npz").exists()


def test_what_a_driver_prints_does_not_mix_with_data(ctx):
    result = ctx.pelt("devices --json", env={**made_up(ctx, "discrete"), "PELT_FAKE_VULKAN_TALKS": "1"})
    assert json.loads(result.out)["gpu"] == 0 and "a driver that talks" in result.err


# ---- the device there is


TELLS_THE_DEVICE = {"test_text_output_tells_what_was_written", "test_text_says_how_a_clip_was_sampled",
                    "test_text_of_a_bent_bar_and_a_rigid_one"}


def run_on_device(ctx, module):
    """Runs a module's tests with --device added to pose and bounds."""
    device = real_device(ctx)

    class OnDevice(type(ctx)):
        def pelt(self, args, **keywords):
            words = args.split() if isinstance(args, str) else list(args)
            return super().pelt(words + (["--device", device] if words[0] in ("pose", "bounds") else []), **keywords)

    count = 0
    for name, function in sorted(vars(module).items()):
        if name.startswith("test_") and callable(function) and name not in TELLS_THE_DEVICE:
            folder = ctx.tmp / name
            folder.mkdir()
            try:
                function(OnDevice(ctx.binary, folder, False))
            except Exception as error:
                if type(error).__name__ != "Skipped":
                    raise AssertionError("%s on device %s" % (name, device)) from error
            count += 1
    assert count > 15


def test_poses_hold_on_the_device(ctx):
    run_on_device(ctx, test_pose)


def test_bounds_hold_on_the_device(ctx):
    run_on_device(ctx, test_bounds)


def close_to(ours, theirs, tolerance):
    return all(abs(a - b) <= tolerance for a, b in zip(ours, theirs))


def test_a_character_comes_out_as_on_the_cpu(ctx):
    device = real_device(ctx)
    ctx.pelt("gen octopus -o o.glb --vertices 3000")
    ctx.pelt("cook o.glb -o o.pelt")
    # The packed streams of a .pelt are the CPU's input too; glTF is packed on the way to the device.
    for source, tolerance in (("o.pelt", 4e-6), ("o.glb", 2e-3)):
        words = ["pose", source, "--clip", "#0", "--time", "30%", "--morph", "puff=0.5", "--json", "-o"]
        here = ctx.json(words + ["cpu.npz", "--force"])
        there = ctx.json(words + ["gpu.npz", "--force", "--device", device])
        assert here["device"]["name"] == "cpu" and there["device"]["vulkan"]
        a, = read.npz_primitives(ctx.tmp / "cpu.npz", (3,))
        b, = read.npz_primitives(ctx.tmp / "gpu.npz", (3,))
        assert len(a["positions"]) == len(b["positions"]) and a["elements"] == b["elements"]
        assert all(close_to(p, q, tolerance) for p, q in zip(a["positions"], b["positions"])), source
        assert all(close_to(p, q, max(tolerance, 1e-3)) for p, q in zip(a["normals"], b["normals"])), source
        assert b["box"] == test_pose.box_of(b["positions"])
        words = ["bounds", source, "--clip", "all", "--fps", "5", "--json"]
        here, there = ctx.json(words), ctx.json(words + ["--device", device])
        assert here["all"]["times"] == there["all"]["times"]
        for side in ("min", "max"):
            assert close_to(here["all"]["box"][side], there["all"]["box"][side], tolerance)


def test_a_vertex_that_is_no_number_is_told_though_no_box_shows_it(ctx):
    device = real_device(ctx)
    g = Gltf()
    # Rows of (s, -s, 0): vertex 1 goes to inf - inf, and no other vertex far.
    mesh = g.mesh(g.primitive([[0, 0, 0], [1e9, 1e9, 0], [0, 1e-9, 0]]))
    g.node(root=True, mesh=mesh, matrix=[1e30, 1e30, 0, 0, -1e30, -1e30, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    g.save(ctx.tmp / "huge.gltf")
    here = ctx.fails("bounds huge.gltf", 4, "vertex 1: the posed position is not finite")
    there = ctx.fails(["bounds", "huge.gltf", "--device", device], 4, "vertex 1: the posed position is not finite")
    assert here == there


def test_reports_name_the_device(ctx):
    device = real_device(ctx)
    listed, = ctx.json(["devices", "--json", "--device", device])["devices"]
    bar().save(ctx.tmp / "bar.gltf")
    told = ", on %s, %s\n" % (listed["name"], listed["type"])
    for words in (["bounds", "bar.gltf"], ["pose", "bar.gltf", "-o", "a.npz", "--force"]):
        assert told in ctx.pelt(words + ["--device", device]).out
        assert ", on " not in ctx.pelt(words).out
        value = ctx.json(words + ["--json", "--device", device])["device"]
        assert value == {k: listed[k] for k in value} and value["software"] == (listed["type"] == "software")
        assert ctx.json(words + ["--json"])["device"]["name"] == "cpu"


def test_lavapipe_answers_to_its_name(ctx):
    if not any(d["driver"] == "llvmpipe" for d in ctx.json("devices --json")["devices"]):
        ctx.skip("there is no lavapipe")
    device, = ctx.json("devices --json --device lavapipe")["devices"]
    assert device["software"] is True and device["driver"] == "llvmpipe"
