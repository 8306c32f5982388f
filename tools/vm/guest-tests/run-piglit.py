#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Piglit's tests one after the other, where Mesa is: in the guest, or in the root for the software renderer.

  run-piglit.py resolve LIST       names (a line each, `#` begins a comment) to lines of name, tab, command in JSON;
                                   one that ends in `*` is of all tests that begin so
  run-piglit.py run DIR LIMIT      those of DIR/todo, each with a limit of LIMIT seconds

A line of DIR/results each: result, name, seconds, reason. After one that leaves traces (killed, or a bad line in the
kernel log) the rest is left to the next boot.
  PASS SKIP FAIL WARN   as the test says
  CRASH                 ended by a signal, or without a result
  TIMEOUT               ended by the limit
  HANG                  could not even be killed
  REFUSED               the kernel has refused a stream
  DMESG                 a bad line in the kernel log (DIR/bad has the pattern, DIR/fine what of it is fine), or
                        a reset of the GPU (DIR/reset)

Tests of piglit's shader_runner in succession are run by one process, since to begin one takes longer than the
test. If it dies, or the kernel log has something, each of the rest has a process of its own.
"""
import ast
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

HOME = '/usr/lib/x86_64-linux-gnu/piglit'
TOGETHER = 20
# Messages of ouro and Mesa about a stream that the kernel refuses.
REFUSED = re.compile(r'command stream refused|rejected CS')


def resolve(path):
    """Prints the commands of the tests whose names stand in the file."""
    wanted, begins = {}, ()
    for line in open(path, encoding='utf-8'):
        name = line.split('#')[0].strip()
        if name.endswith('*'):
            begins += (name[:-1],)
        elif name:
            wanted.setdefault(name, None)
    for profile in ('quick_gl', 'quick_shader'):
        with gzip.open(f'{HOME}/tests/{profile}.xml.gz') as file:
            for _, test in xml.etree.ElementTree.iterparse(file):
                if test.tag == 'Test':
                    if test.get('name') in wanted or (test.get('name').startswith(begins) and without_windows(test)):
                        wanted[test.get('name')] = command_of(test)
                    test.clear()
    for name, command in wanted.items():
        print(f'{name}\t{json.dumps(command)}')


def without_windows(test):
    """Whether a test can run without a window system, as far as piglit's lists know."""
    option = {entry.get('name'): entry.get('value') for entry in test.iter('option')}
    return 'surfaceless' in option.get('require_platforms', 'surfaceless') and \
        'surfaceless' not in option.get('exclude_platforms', '')


def command_of(test):
    """The command of a test in a list of piglit's, as its own runner makes it."""
    option = {entry.get('name'): entry.get('value') for entry in test.iter('option')}
    if test.get('type') == 'asm_parser':
        return ['asmparsertest', ast.literal_eval(option['type_']), f"{HOME}/{ast.literal_eval(option['filename'])}"]
    command = [str(word) for word in ast.literal_eval(option['command'])]
    if test.get('type') == 'gl_builtin':
        return [command[0], f'{HOME}/tests/{command[1]}', *command[2:]]
    if test.get('type') == 'shader':
        command[1] = f'{HOME}/{command[1]}'
    # There is no window system: tests that draw to a window get a framebuffer object.
    return [word for word in command if word] + ['-auto', '-fbo']


class Kernel:
    """The kernel's log since the last look; without one (on a host), nothing."""

    def __init__(self, folder, watch):
        self.log = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK) if watch else None
        self.pattern = [re.compile(read(f'{folder}/{name}') or '$^') for name in ('bad', 'fine', 'reset')]
        self.copy = open(f'{folder}/kernel.txt', 'a', encoding='utf-8')

    def said(self):
        """The new lines, and the first of them that is bad."""
        lines = []
        while self.log is not None:
            try:
                lines.append(os.read(self.log, 8192).decode('utf-8', 'replace').split(';', 1)[-1].split('\n')[0])
            except BlockingIOError:
                break
            except OSError:
                # some lines were lost: the later ones are there
                continue
        self.copy.writelines(f'{line}\n' for line in lines)
        self.copy.flush()
        bad, fine, reset = self.pattern
        bad = [line for line in lines if (bad.search(line) and not fine.search(line)) or reset.search(line)]
        return lines, (bad or [None])[0]


def read(path):
    """A file without its last end of line, '' if there is none."""
    try:
        return open(path, encoding='utf-8').read().strip('\n')
    except FileNotFoundError:
        return ''


def execute(command, limit):
    """Runs it: its exit code (None: could not be killed, 'limit': the limit ended it, 'missing': Debian's
    package does not have the program), what it said."""
    if not os.path.exists(f'{HOME}/bin/{command[0]}'):
        return 'missing', ''
    # not a pipe, which a remaining child would keep open
    with open('/tmp/piglit-said', 'w+', encoding='utf-8', errors='replace') as said:
        process = subprocess.Popen([f'{HOME}/bin/{command[0]}', *command[1:]], stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=subprocess.STDOUT, cwd='/tmp', start_new_session=True,
                                   env=os.environ | {'PIGLIT_SOURCE_DIR': HOME, 'PIGLIT_PLATFORM': 'surfaceless_egl'})
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            try:
                process.wait(60)
                code = 'limit'
            except subprocess.TimeoutExpired:
                code = None
        said.seek(0)
        return code, said.read()


def judge(code, said):
    """Result and reason of one test by itself."""
    if code is None:
        return 'HANG', ''
    if code == 'limit':
        return 'TIMEOUT', ''
    if code == 'missing':
        return 'SKIP', 'the package does not have the program'
    if code < 0:
        return 'CRASH', f'signal {-code}'
    result, parts = None, {}
    for line in re.findall(r'^PIGLIT: (\{.*\})\s*$', said, re.MULTILINE):
        told = json.loads(line)
        parts.update(told.get('subtest', {}))
        result = told.get('result', result)
    if result is None:
        return 'CRASH', f'no result, ended with {code}'
    if code != 0 and result == 'pass':
        return 'FAIL', f'ended with {code}'
    return result.upper(), reason(result, said, parts)


def reason(result, said, parts):
    """Why it did not pass: the parts of it that failed, else its first words about it."""
    if result == 'pass':
        return ''
    bad = [name for name, what in parts.items() if what not in ('pass', 'skip')]
    if bad and result != 'skip':
        return f"{len(bad)} of {len(parts)}: {'; '.join(bad[:6])}"
    lines = [line.strip() for line in said.split('\n')
             if line.strip() and not line.startswith(('PIGLIT', 'MESA: ', 'ATTENTION'))]
    best = [line for line in lines if re.search(r'[Pp]robe|xpected|bserved|requires|not supported', line)] or lines
    return ' | '.join(best[:3])[:200]


def run(folder, limit):
    """All of the list, as the head of this file says."""
    # without a guest the kernel's log is not about these tests
    kernel = Kernel(folder, os.path.exists(f'{folder}/bad'))
    todo = [{'name': name, 'command': json.loads(command)}
            for name, command in (line.rstrip('\n').split('\t') for line in open(f'{folder}/todo', encoding='utf-8'))]
    os.makedirs(f'{folder}/logs', exist_ok=True)
    results = open(f'{folder}/results', 'a', encoding='utf-8')
    kernel.said()

    def tell(test, result, begin, why, said):
        line = '\t'.join((result, test['name'], f'{time.monotonic() - begin:.1f}', re.sub(r'\s+', ' ', why)))
        results.write(line + '\n')
        results.flush()
        if result not in ('PASS', 'SKIP'):
            with open(f"{folder}/logs/{re.sub('[/ ]', '_', test['name'])[:200]}.txt", 'w', encoding='utf-8') as log:
                log.write(said[:200000])

    def alone(test):
        """Runs one; whether there may be another in this boot."""
        begin = time.monotonic()
        with open(f'{folder}/progress', 'w', encoding='utf-8') as progress:
            progress.write(test['name'] + '\n')
        if test['command'] is None:
            tell(test, 'FAIL', begin, 'no such test', '')
            return True
        code, said = execute(test['command'], limit)
        result, why = judge(code, said)
        lines, bad = kernel.said()
        refused = [line for line in lines + said.split('\n') if REFUSED.search(line)]
        if bad:
            result, why = 'DMESG', f'{result}, and in the kernel log: {bad[:160]}'
        elif refused:
            result, why = 'REFUSED', f'{result}; {len(refused)} lines: {refused[0][:160]}'
        tell(test, result, begin, why, said)
        return not bad and result != 'HANG'

    def together(tests):
        """Runs several by one process: how many have a result. 0: nothing can be said of any."""
        begin = time.monotonic()
        with open(f'{folder}/progress', 'w', encoding='utf-8') as progress:
            progress.write(tests[0]['name'] + '\n')
        words = [tests[0]['command'][0], *(test['command'][1] for test in tests), '-auto', '-report-subtests']
        code, said = execute(words, limit + 3 * len(tests))
        if code is None:
            return 0
        lines, bad = kernel.said()
        if bad or any(REFUSED.search(line) for line in lines) or REFUSED.search(said):
            return 0
        parts = re.split(r'^PIGLIT TEST: \d+ - .*$', said, flags=re.MULTILINE)[1:]
        done = 0
        for test, part in zip(tests, parts):
            told = re.findall(r'^PIGLIT: \{"subtest": \{"[^"]*"\s*:\s*"(\w+)"\}\s*\}', part, re.MULTILINE)
            if len(told) != 1:
                break
            tell(test, told[0].upper(), begin, reason(told[0], part, {}), part)
            begin = time.monotonic()
            done += 1
        return done

    at = 0
    while at < len(todo):
        runner = (todo[at]['command'] or [''])[0]
        end = at + 1
        if runner.startswith('shader_runner'):
            while end < min(len(todo), at + TOGETHER) and (todo[end]['command'] or [''])[0] == runner:
                end += 1
        if end > at + 1:
            at += together(todo[at:end])
        # a test that could not run, or that is not split
        while at < end:
            if not alone(todo[at]):
                return
            at += 1


if sys.argv[1] == 'resolve':
    resolve(sys.argv[2])
else:
    run(sys.argv[2], int(sys.argv[3]))
