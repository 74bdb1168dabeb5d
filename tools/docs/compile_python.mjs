// Replaces the Python sources in zip files by what Pyodide's Python compiles them to, so that no reader's
// browser has to do it again: node compile_python.mjs PYODIDE ZIP...
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const pyodide = await loadPyodide();
pyodide.runPython(`
import marshal
from importlib.util import MAGIC_NUMBER, source_hash
from zipfile import ZIP_DEFLATED, ZipFile

UNCHECKED = (1).to_bytes(4, "little")  # the flag of bytecode that is not compared with a source

def compile_sources(before, after):
    with ZipFile(before) as sources, ZipFile(after, "w", ZIP_DEFLATED) as made:
        for name in sources.namelist():
            data = sources.read(name)
            if name.endswith(".py"):
                code = compile(data, name, "exec", dont_inherit=True, optimize=2)
                data = MAGIC_NUMBER + UNCHECKED + source_hash(data) + marshal.dumps(code)
                name += "c"
            made.writestr(name, data)
`);
for (const file of files) {
  pyodide.FS.writeFile("/before", readFileSync(file));
  pyodide.globals.get("compile_sources")("/before", "/after");
  writeFileSync(file, pyodide.FS.readFile("/after"));
}
