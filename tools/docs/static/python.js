// Answers questions of the box with Python, by Pyodide, in a thread of its own: the page stays usable.
// The first message starts Python. Each message holds a question, or none, and a port for the answer.

let python = null; // the promise of a function that answers

async function file(address, options) {
  const found = await fetch(address, options);
  if (!found.ok) throw new Error(`${address} cannot be fetched`);
  return found;
}

/** Loads a script of elsewhere only if it is the one that was meant. */
async function script(address, integrity) {
  const text = await file(address, { integrity }).then((found) => found.blob());
  return import(URL.createObjectURL(text.slice(0, text.size, "text/javascript")));
}

/** Fetches Python, the wheel and the code that answers; a function that answers. */
async function fetched({ base, hash, wheel, code }) {
  const [pyodide, packed, source] = await Promise.all([
    script(`${base}pyodide.mjs`, hash).then(({ loadPyodide }) => loadPyodide({ indexURL: base })),
    file(wheel).then((found) => found.arrayBuffer()),
    file(code).then((found) => found.text()),
  ]);
  pyodide.unpackArchive(packed, "wheel");
  pyodide.runPython(source);
  return pyodide.runPython("import json\nlambda *texts: json.dumps(annotate(*texts))");
}

onmessage = async ({ data: { files, asked }, ports: [port] }) => {
  try {
    const annotate = await (python ??= fetched(files));
    port.postMessage({ answered: asked && JSON.parse(annotate(...asked)) });
  } catch (error) {
    port.postMessage({ failed: error.message });
  }
};
