#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the table of packing errors in docs/accuracy.md from `pelt cook --json` over a folder of models.

usage: accuracy_table.py PELT FOLDER [--write FILE] [--check] [--exclude PREFIX]

Cooks every model twice, with sorted and with plain weights, and prints a Markdown table with the largest position errors of
both, the bytes that skinning requests, and the medians. --exclude leaves out models whose path begins so. --write puts the
table between the two marks in FILE instead. --check prints TAP instead: whether sorted weights do as docs/accuracy.md
promises, at most half of the error of plain ones on every model with two influences a vertex or more, at most a quarter in the
median, under 0.005 % of the diagonal in the median and 0.02 % on all.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

BEGIN, END = "<!-- packing errors: begin -->", "<!-- packing errors: end -->"
# Below this share of the diagonal an error is the rounding of 32-bit floats, and says nothing of weights.
NOISE = 2e-6


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def cook(pelt, folder, scratch, weights):
    """{file: its entry}; what is not cooked is left out"""
    run = subprocess.run([pelt, "cook", folder, "-o", os.path.join(scratch, weights), "--weights", weights, "--json", "--quiet"],
                         capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit("pelt cook: exit %d: %s" % (run.returncode, run.stderr))
    return {f["file"]: f for f in json.loads(run.stdout)["files"] if f["status"] == "cooked" and f["error"]}


def mean(entry, get):
    """Over the vertices of the skinned primitives"""
    parts = [(p["vertices"], get(p["bytes_per_vertex"])) for p in entry["primitives"] if p["weights"] and p["vertices"]]
    return sum(n * x for n, x in parts) / sum(n for n, _ in parts)


class Row:
    def __init__(self, name, sorted_entry, plain_entry):
        self.name = name
        self.influences = max(p["influences"] for p in sorted_entry["primitives"])
        self.vertices = sum(p["vertices"] for p in sorted_entry["primitives"] if p["weights"])
        self.sorted, self.plain = sorted_entry["error"]["position_share"], plain_entry["error"]["position_share"]
        self.rms = sorted_entry["error"]["position_rms_share"]
        self.normal = sorted_entry["error"]["normal_degrees"]
        self.read = mean(sorted_entry, lambda b: b["read"])
        self.requested = mean(sorted_entry, lambda b: b["requested"]["total"])
        self.listed = mean(sorted_entry, lambda b: b["requested"]["list_total"])
        self.replaced = mean(sorted_entry, lambda b: b["requested"]["replaced"])

    @property
    def counts(self):
        """Whether the weights show above the rounding of floats"""
        return self.influences >= 2 and self.plain > NOISE

    @property
    def ratio(self):
        return self.sorted / self.plain


def percent(share):
    return "%.2g" % (100 * share)


def table(rows):
    yield ("| model | vertices | influences | sorted: largest, % | sorted: RMS, % | plain: largest, % | sorted / plain | normals, "
           "degrees | read | requested | lists once | 4x4 twice |")
    yield "|---" * 12 + "|"
    for r in rows:
        ratio = "%.2f" % r.ratio if r.counts else "–"
        yield "| %s | %s | %d | %s | %s | %s | %s | %.2g | %.1f | %.1f | %.1f | %.0f |" % (
            r.name, "{:,}".format(r.vertices), r.influences, percent(r.sorted), percent(r.rms), percent(r.plain), ratio, r.normal,
            r.read, r.requested, r.listed, r.replaced)
    counted = [r for r in rows if r.counts]
    yield "| **median** | | | %s | %s | %s | %.2f | %.2g | %.1f | %.1f | %.1f | %.0f |" % (
        percent(median([r.sorted for r in counted])), percent(median([r.rms for r in counted])),
        percent(median([r.plain for r in counted])), median([r.ratio for r in counted]), median([r.normal for r in counted]),
        median([r.read for r in rows]), median([r.requested for r in rows]), median([r.listed for r in rows]),
        median([r.replaced for r in rows]))
    yield "| **largest** | | | %s | %s | %s | %.2f | %.2g | %.1f | %.1f | %.1f | %.0f |" % (
        percent(max(r.sorted for r in counted)), percent(max(r.rms for r in counted)), percent(max(r.plain for r in counted)),
        max(r.ratio for r in counted), max(r.normal for r in counted), max(r.read for r in rows),
        max(r.requested for r in rows), max(r.listed for r in rows), max(r.replaced for r in rows))


def verdicts(rows):
    counted = [r for r in rows if r.counts]
    yield "half of plain on every model", max(r.ratio for r in counted), 0.5
    yield "a quarter of plain in the median", median([r.ratio for r in counted]), 0.25
    yield "0.005 % of the diagonal in the median", 100 * median([r.sorted for r in counted]), 0.005
    yield "0.02 % of the diagonal on all", 100 * max(r.sorted for r in rows), 0.02


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pelt")
    parser.add_argument("folder")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--exclude", metavar="PREFIX")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        by_sorted, by_plain = (cook(arguments.pelt, arguments.folder, scratch, w) for w in ("sorted", "plain"))
    rows = [Row(os.path.relpath(name, arguments.folder), entry, by_plain[name]) for name, entry in sorted(by_sorted.items())
            if name in by_plain and any(p["weights"] and p["vertices"] for p in entry["primitives"])]
    rows = [r for r in rows if not (arguments.exclude and r.name.startswith(arguments.exclude))]
    if not [r for r in rows if r.counts]:
        sys.exit("no skinned model in " + arguments.folder)
    text = "\n".join(table(rows))
    if arguments.write:
        with open(arguments.write, encoding="utf-8") as f:
            page = f.read()
        head, rest = page.split(BEGIN)
        with open(arguments.write, "w", encoding="utf-8") as f:
            f.write(head + BEGIN + "\n\n" + text + "\n\n" + END + rest.split(END)[1])
    elif not arguments.check:
        print(text)
    failed = 0
    for i, (what, value, limit) in enumerate(verdicts(rows), 1):
        failed += value > limit
        if arguments.check:
            print("%s %d - packing errors: %s (%.4g, promised %.4g)" % ("ok" if value <= limit else "not ok", i, what, value, limit))
    if arguments.check:
        print("1..%d" % len(list(verdicts(rows))))
    return 1 if failed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
