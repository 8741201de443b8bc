// Runs modellint in Pyodide, apart from the page: messages are {id, files}, answers {id, report} or {id, error}.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const ready = (async () => {
  const python = await loadPyodide();
  const packages = await (await fetch("packages.zip")).arrayBuffer();
  const folder = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(packages, "zip", { extractDir: folder });
  python.runPython("import importlib; importlib.invalidate_caches()");
  return python.pyimport("modellint_playground");
})();

ready.then(
  (entry) => postMessage({ ready: true, version: entry.version() }),
  (error) => postMessage({ error: `modellint cannot be loaded: ${error.message}` }),
);

onmessage = async ({ data }) => {
  try {
    const entry = await ready;
    postMessage({ id: data.id, report: JSON.parse(entry.check(JSON.stringify(data.files))) });
  } catch (error) {
    postMessage({ id: data.id, error: String(error.message).trim().split("\n").pop() });
  }
};
