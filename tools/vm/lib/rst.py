#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Pages of reStructuredText, read as a renderer reads them: TAP, a line each.

    rst.py FILE...

A page is good if docutils says nothing about it, what it points to is there: other pages (`:doc:`,
the table of contents), labels (`:ref:`) and pictures; and no paragraph has swallowed a heading.
"""

import os
import re
import sys

import docutils.core
from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles

DOC = re.compile(r":doc:`([^`<>]+)`|:doc:`[^`]*<([^`<>]+)>`")
REF = re.compile(r":ref:`([^`<>]+)`|:ref:`[^`]*<([^`<>]+)>`")
LABEL = re.compile(r"^\.\. _([^:]+):\s*$", re.MULTILINE)
PICTURE = re.compile(r"^ *\.\. (?:figure|image):: *(\S+)", re.MULTILINE)


class Contents(Directive):
    """`toctree`, which is Sphinx's own: each line names a page."""

    has_content = True
    option_spec = {"maxdepth": directives.unchanged, "caption": directives.unchanged}

    def run(self):
        for page in self.content:
            if page.strip() and not os.path.exists(os.path.join(BESIDE, page.strip() + ".rst")):
                raise self.warning("no such page: %s" % page)
        return []


class KernelDoc(Directive):
    """`kernel-doc`, which is the kernel's own: it names a file."""

    required_arguments = 1

    def run(self):
        if not os.path.exists(self.arguments[0]):
            raise self.warning("no such file: %s" % self.arguments[0])
        return []


def role(_name, raw, text, _line, _inliner, options=None, content=None):
    """A role of Sphinx: its text."""
    return [nodes.literal(raw, text)], []


def complaints(path, labels):
    """What is wrong with a page."""
    global BESIDE
    BESIDE = os.path.dirname(path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    heard = []

    class Ear:
        """docutils' messages, one line each."""

        def write(self, words):
            heard.extend(w for w in words.splitlines() if re.search(r"\((INFO|WARNING|ERROR|SEVERE)/", w))

        def flush(self):
            pass

    settings = {
        "report_level": 2,
        "halt_level": 5,
        "warning_stream": Ear(),
        "file_insertion_enabled": False,
        "raw_enabled": False,
        # colours are Sphinx's matter
        "syntax_highlight": "none",
    }
    # written as HTML as well: some mistakes show only then
    docutils.core.publish_string(text, source_path=path, writer_name="html5", settings_overrides=settings)
    # without an empty line above it, a heading is the last line of a paragraph, and docutils says nothing
    for paragraph in docutils.core.publish_doctree(text, settings_overrides=settings).findall(nodes.paragraph):
        if re.search(r"^(=+|-{4,}|~{4,})$", paragraph.rawsource, re.MULTILINE):
            heard.append("%s: a heading without an empty line above it: %s" % (path, paragraph.rawsource.splitlines()[-2]))
    for one, two in DOC.findall(text):
        if not os.path.exists(os.path.join(BESIDE, (one or two) + ".rst")):
            heard.append("%s: no such page: %s" % (path, one or two))
    for one, two in REF.findall(text):
        if (one or two) not in labels:
            heard.append("%s: no such label: %s" % (path, one or two))
    for picture in PICTURE.findall(text):
        if not os.path.exists(os.path.join(BESIDE, picture)):
            heard.append("%s: no such picture: %s" % (path, picture))
    return heard


def main(paths):
    """Judges all pages; labels may be in any of them."""
    directives.register_directive("toctree", Contents)
    directives.register_directive("kernel-doc", KernelDoc)
    for name in ("doc", "ref"):
        roles.register_local_role(name, role)
    labels = set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            labels.update(LABEL.findall(file.read()))
    print("TAP version 13")
    for number, path in enumerate(paths, 1):
        heard = complaints(path, labels)
        for line in heard:
            print("# " + line)
        print("%s %d %s" % ("not ok" if heard else "ok", number, path))
    print("1..%d" % len(paths))


BESIDE = ""
main(sys.argv[1:])
