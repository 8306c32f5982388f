#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Loads a converted trace of a model into Perfetto's trace processor, and compares what it has
understood with the lines of the trace.

    check.py TRACE JSON

TRACE is what `gpu-model --trace` wrote, JSON what `ouro-decode --what trace --no-registers` made of it. Prints TAP.
"""

import json
import sys
from collections import Counter, defaultdict

from processor import Processor

SLICES = """
    select s.id, s.parent_id, s.depth, s.name, s.dur, coalesce(t.name, 'GPU') as track,
           (select display_value from args where arg_set_id = s.arg_set_id and key = 'args.dwords') as dwords,
           (select display_value from args where arg_set_id = s.arg_set_id and key = 'args.address') as address
    from slice s left join thread_track tt on s.track_id = tt.id left join thread t using (utid)
    order by s.id
"""

bad = 0
number = 0


def said(what, wrong):
    """Prints a result; `wrong` is empty if the test passes."""
    global bad, number
    number += 1
    print(f"{'not ok' if wrong else 'ok'} {number} {what}")
    if wrong:
        bad += 1
        print(f"# {wrong}")


class Lines:
    """What a trace says, by its own lines (model.rst, "Traces")."""

    def __init__(self, path):
        self.commands = defaultdict(list)
        self.batches = Counter()
        self.interrupts = 0
        self.faults = Counter()
        self.resets = Counter()
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                words = line.split()
                kind = words[1] if len(words) > 1 else ""
                if kind == "C":
                    self.commands[words[2]].append((words[5], " ".join(words[6:])))
                    self.batches[words[2]] += words[3] == "batch"
                elif kind == "I":
                    self.interrupts += 1
                elif kind == "P":
                    self.faults[words[2]] += 1
                elif kind == "X":
                    self.resets[" ".join(words[2:])] += 1


def main(trace, converted):
    lines = Lines(trace)
    processor = Processor(trace=converted)
    rows = {row.id: row for row in processor.query(SLICES)}

    wrong = [
        f"{row.name}: {row.value}"
        for row in processor.query(
            "select name, value from stats where severity in ('error', 'data_loss') and value != 0"
        )
    ]
    said("the trace has commands", "" if lines.commands else "none")
    said("Perfetto reads it without an error", "; ".join(wrong))
    with open(converted, encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    wanted = sum(event["ph"] in ("B", "i") for event in events)
    said("each span and each mark is there", "" if len(rows) == wanted else f"{len(rows)}, not {wanted}")
    endless = [row.name for row in rows.values() if row.dur < 0]
    said("each span has an end", ", ".join(endless[:5]))

    found = defaultdict(list)
    for row in rows.values():
        if row.dwords is not None:
            found[row.track].append((row.name, row.dwords))
    for engine, commands in lines.commands.items():
        wrong = ""
        if found[engine] != commands:
            same = zip(found[engine], commands)
            first = next((n for n, (a, b) in enumerate(same) if a != b), len(commands))
            wrong = f"from command {first} on: {len(found[engine])}, not {len(commands)}"
        said(f"the commands of {engine}, in their order: {len(commands)}", wrong)

    def parents(row):
        while row.parent_id is not None:
            row = rows[row.parent_id]
            yield row.name

    lost, inside = [], Counter()
    for row in rows.values():
        if row.dwords is None:
            continue
        names = list(parents(row))
        if not any(name.startswith("request ") for name in names):
            lost.append(row.name)
        inside[row.track] += any(name.startswith(("batch ", "indirect buffer")) for name in names)
    said("each command lies in a request", ", ".join(lost[:5]))
    wrong = {e: (inside[e], n) for e, n in lines.batches.items() if inside[e] != n}
    said("those of batches lie in a batch", f"{wrong}" if wrong else "")

    marks = Counter((row.track, row.name) for row in rows.values())
    n = marks["interrupts", "interrupt"]
    said("interrupts", "" if n == lines.interrupts else f"{n}, not {lines.interrupts}")
    wrong = {e: n for e, n in lines.faults.items() if marks[e, "page fault"] != n}
    said("page faults, on their engines", f"{wrong}" if wrong else "")
    resets = {
        what: n
        for what, n in lines.resets.items()
        if marks[what, "reset"] != n and marks["GPU", f"reset {what}"] != n
    }
    said("resets", f"{resets}" if resets else "")
    print(f"1..{number}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
