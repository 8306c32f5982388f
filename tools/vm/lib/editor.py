# SPDX-License-Identifier: GPL-2.0
"""Joins what the kernel's scripts say of its crates and of the module's C files with this tree's own.

Reads rust-project.json and compile_commands.json in the module's build folder, and the commands that Kbuild kept there
(.NAME.o.cmd). Paths of the build root become paths of this machine.
"""

import argparse
import json
import pathlib
import re
import shlex

# The crates, each after its dependencies: the path of the root file in the tree.
CRATES = [
    "rust/ouro_uapi/lib.rs",
    "rust/ouro_kernel/lib.rs",
    "drivers/gpu/drm/ouro/hw/lib.rs",
    "drivers/gpu/drm/ouro/core/lib.rs",
    "drivers/gpu/drm/ouro/ouro_main.rs",
]
# Crates of the kernel that these use and that are in no command.
KERNEL = ["core", "ffi", "macros"]


def command_of(objects, root_module):
    """The words of the command that built a crate."""
    path = objects / root_module
    saved = (path.parent / f".{path.stem}.o.cmd").read_text()
    line = re.match(r"savedcmd_\S+ := ([^;\n]*)", saved).group(1)
    return shlex.split(line)


def values(words, option):
    """What stands behind an option, each time."""
    out = []
    for at, word in enumerate(words):
        if word == option:
            out.append(words[at + 1])
        elif word.startswith(option + "="):
            out.append(word[len(option) + 1:])
    return out


def add_crate(project, name, root_module, deps, like, **more):
    """Appends a crate that uses others by name, with the flags of another one."""
    crates = project["crates"]
    index = {crate["display_name"]: n for n, crate in enumerate(crates)}
    crates.append({
        "display_name": name,
        "root_module": str(root_module),
        "is_workspace_member": name.startswith("ouro"),
        "deps": [{"crate": index[dep], "name": dep} for dep in deps if dep in index],
        "cfg": crates[index[like]]["cfg"],
        "edition": "2021",
        "env": {},
        **more,
    })


def rust(top, objects):
    """The project of rust-analyzer."""
    project = json.loads((objects / "rust-project.json").read_text())
    externs = {}
    for crate in CRATES:
        words = command_of(objects, crate)
        name = (values(words, "--crate-name") or [pathlib.Path(crate).stem])[0]
        used = [word.split("=", 1) for word in values(words, "--extern")]
        used = [word[0].rsplit(":", 1)[-1:] + word[1:] for word in used]
        externs.update({word[0]: word[1] for word in used if len(word) == 2})
        known = {known["display_name"] for known in project["crates"]}
        if "bitfield_struct" in externs and "bitfield_struct" not in known:
            saved = (objects / "rust/.libstatic_assertions.rmeta.cmd").read_text()
            source = pathlib.Path(re.search(r"\S+/static_assertions-[^/]+/src/lib\.rs", saved).group(0))
            # Its source is beside the other's.
            macro = sorted(source.parents[2].glob("bitfield-struct-*/src/lib.rs"))[-1]
            add_crate(project, "bitfield_struct", macro, ["std", "proc_macro"], "core",
                      is_proc_macro=True, proc_macro_dylib_path=externs["bitfield_struct"])
            add_crate(project, "static_assertions", source, ["core"], "core")
        env = dict(word.split("=", 1) for word in values(words, "--env-set"))
        add_crate(project, name, top / crate, KERNEL + [word[0] for word in used], "kernel", env=env)
    return project


def c_commands(top, objects, headers, linux):
    """The commands of C files: the module's, and those of programs in user space."""
    commands = json.loads((objects / "compile_commands.json").read_text())
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", f"-I{top}/include/uapi", "-isystem", f"{headers}",
             "-isystem", f"{headers}/drm", "-isystem", f"{linux}/tools/testing/selftests"]
    for folder in ["examples", "tools/testing/selftests/drm/ouro", "tools/testing/bench"]:
        for path in sorted((top / folder).glob("*.c")):
            commands.append({
                "directory": str(path.parent),
                "file": str(path),
                "arguments": ["cc", *flags, "-c", path.name],
            })
    return commands


def main():
    """Writes both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["top", "objects", "root", "headers", "linux"]:
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    args = parser.parse_args()

    def outside(text):
        """Paths of the build root's /usr, as this machine has them."""
        return text.replace('"/usr/', f'"{args.root}/usr/').replace('"/usr"', f'"{args.root}/usr"')

    project = json.dumps(rust(args.top, args.objects), indent=1, sort_keys=True)
    (args.top / "build/rust-project.json").write_text(outside(project) + "\n")
    commands = c_commands(args.top, args.objects, args.headers, args.linux)
    (args.top / "compile_commands.json").write_text(json.dumps(commands, indent=1) + "\n")


main()
