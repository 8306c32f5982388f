# SPDX-License-Identifier: GPL-2.0
"""How Sphinx makes HTML of the pages: `make docs`.

In a kernel tree the pages are built by the kernel's own conf.py; this one knows only what they use of it.
"""

import os
import subprocess
import sys

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

project = "ouro"
author = "the ouro project"
project_copyright = "the ouro project, GPL-2.0"
root_doc = "index"
language = "en"
html_theme = "alabaster"
html_theme_options = {
    "description": "Rust DRM driver for documented GPUs, and models of these GPUs",
    "page_width": "1200px",
    "sidebar_width": "240px",
    "fixed_sidebar": True,
}
html_show_sphinx = False
html_copy_source = False
# Code blocks are commands, logs, C and Rust: none is coloured for another.
highlight_language = "none"
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Types of the kernel's headers, which no page here describes.
nitpick_ignore = [("c:identifier", name) for name in ("__u16", "__u32", "__u64")]


class KernelDoc(Directive):
    """`kernel-doc:: FILE`: the comments of a header, as the kernel's tool of that name takes them out."""

    required_arguments = 1
    option_spec = {"internal": directives.flag}

    def run(self):
        source = os.path.join(TOP, self.arguments[0])
        tool = os.environ["OURO_KERNEL_DOC"]
        done = subprocess.run([sys.executable, tool, "-rst", "-Werror", source], capture_output=True, text=True, check=False)
        if done.returncode:
            raise self.error("kernel-doc: %s" % done.stderr)
        self.state.document.settings.env.note_dependency(source)
        node = nodes.section()
        node.document = self.state.document
        self.state.nested_parse(StringList(done.stdout.splitlines(), source), 0, node)
        return node.children


def setup(app):
    """What Sphinx asks for."""
    app.add_directive("kernel-doc", KernelDoc)
    return {"parallel_read_safe": True}
