"""A look-up in emitted C++ beside c10's own promotion and a std::map, in one program."""
from __future__ import annotations

import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from timing import Row, absent, compared

import typelattice as tl
from typelattice.study.codegen.emit import emit_files

BOTH = (  # an emitted name, and c10's
    "Bool Bool, Uint8 Byte, Int8 Char, Int16 Short, Int32 Int, Int64 Long, Float16 Half, Float32 Float, "
    "Float64 Double, Bfloat16 BFloat16, Complex64 ComplexFloat, Complex128 ComplexDouble"
)
PROGRAM = """
#include <c10/core/ScalarType.h>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <utility>
#include <vector>
#include "torch_dtypes.hpp"
using torch_dtypes::DType;
using c10::ScalarType;
static constexpr struct {{ DType ours; ScalarType theirs; }} both[] = {{{pairs}}};
template <typename F> double best(F f) {{
  double least = 1e9;
  for (int run = 0; run < 15; ++run) {{
    auto start = std::chrono::steady_clock::now();
    unsigned found = f();
    auto took = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    asm volatile("" : : "r"(found));
    if (took < least) least = took;
  }}
  return least / 1000000;
}}
int main() {{
  const unsigned count = sizeof both / sizeof both[0];
  std::mt19937 dice(0);
  std::vector<std::pair<unsigned char, unsigned char>> drawn(1000000);
  std::vector<std::pair<DType, DType>> ours;
  std::vector<std::pair<ScalarType, ScalarType>> theirs;
  std::map<std::pair<DType, DType>, DType> map;
  for (auto &[a, b] : drawn) {{
    a = dice() % count, b = dice() % count;
    ours.push_back({{both[a].ours, both[b].ours}});
    theirs.push_back({{both[a].theirs, both[b].theirs}});
  }}
  for (auto &x : both) for (auto &y : both) {{
    map[{{x.ours, y.ours}}] = torch_dtypes::promote(x.ours, y.ours);
    unsigned i = 0;
    while (i < count - 1 && both[i].ours != map[{{x.ours, y.ours}}]) ++i;
    if (both[i].theirs != c10::promoteTypes(x.theirs, y.theirs)) return 1;
  }}
  auto sum = [](auto &given, auto ask) {{
    return [&given, ask] {{
      unsigned found = 0;
      for (auto &[a, b] : given) found += static_cast<unsigned>(ask(a, b));
      return found;
    }};
  }};
  auto look = [](DType a, DType b) {{ return torch_dtypes::promote(a, b); }};
  auto find = [&map](DType a, DType b) {{ return map.find({{a, b}})->second; }};
  auto call = [](ScalarType a, ScalarType b) {{ return c10::promoteTypes(a, b); }};
  std::printf("%.3f ", best(sum(ours, look)));
  std::printf("%.3f ", best(sum(theirs, call)));
  std::printf("%.3f\\n", best(sum(ours, find)));
}}
"""


def lookups() -> list[Row]:
    """Compile the program with the dtypes of c10's own table, and run it. It fails if an answer differs."""
    if absent("torch") or shutil.which("g++") is None:
        return [Row("promote", "in C++", "absent: no torch, or no g++")]
    root = Path(str(import_module("torch").__file__)).parent
    files = emit_files(tl.system("torch"), "cpp17", tiers=["array"])
    pairs = (f"{{DType::k{ours}, ScalarType::{theirs}}}" for ours, theirs in map(str.split, BOTH.split(", ")))
    with TemporaryDirectory() as folder:
        for name, text in {**files, "a.cpp": PROGRAM.format(pairs=", ".join(pairs))}.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        flags = ["-std=c++17", "-O2", f"-I{root}/include", f"-L{root}/lib", f"-Wl,-rpath,{root}/lib"]
        subprocess.run(["g++", *flags, "a.cpp", "-o", "a", "-lc10"], cwd=folder, check=True)
        run = subprocess.run(["./a"], cwd=folder, check=True, capture_output=True, text=True)
    table, c10, tree = (float(nanoseconds) / 1e9 for nanoseconds in run.stdout.split())
    return [
        compared("emitted table", "c10::promoteTypes", table, c10, 1),
        compared("emitted table", "std::map", table, tree, 1),
    ]
