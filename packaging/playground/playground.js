// The page of the playground: files, an editor with marks, findings with their fixes, and a link that holds the files.
const START = `import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width: int = 64, depth: int = 3):
        super().__init__()
        self.embedding = nn.Embedding(100, width, padding_idx=100)
        self.layers = [nn.Linear(width, width) for _ in range(depth)]

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x
`;
const WAIT = 350;
const byId = (id) => document.getElementById(id);
const [code, marks, numbers, tabs, list, status] = ["code", "marks", "numbers", "tabs", "findings", "status"].map(byId);

let files = { "model.py": START };
let selected = "model.py";
let findings = [];
let asked = 0;
let timer;

// -- links ------------------------------------------------------------------------------------------------------------

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

async function encode(value) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function decode(text) {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
}

async function open() {
  const text = location.hash.slice(1);
  if (text) {
    try {
      const given = await decode(text);
      const entries = Object.entries(given.files ?? {}).filter((entry) => entry.every((part) => typeof part === "string"));
      if (!entries.length) throw new Error("no files");
      files = Object.fromEntries(entries);
      selected = given.selected in files ? given.selected : entries[0][0];
    } catch {
      tell("The link is damaged, so that an example is shown.");
    }
  }
  show();
  ask();
}

// -- the editor -------------------------------------------------------------------------------------------------------

function show() {
  tabs.replaceChildren(...Object.keys(files).map((name) => {
    const tab = element("button", name);
    tab.type = "button";
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", String(name === selected));
    tab.setAttribute("aria-controls", "panel");
    tab.onclick = () => { selected = name; show(); };
    tab.ondblclick = () => rename(name);
    return tab;
  }));
  code.value = files[selected];
  code.setAttribute("aria-label", `Code of ${selected}`);
  byId("remove").disabled = Object.keys(files).length < 2;
  mark();
}

function mark() {
  const text = code.value;
  const lines = text.split("\n");
  numbers.textContent = lines.map((_, number) => number + 1).join("\n");
  const spans = findings.filter((one) => one.path === selected)
    .map((one) => ({ start: offset(lines, one.line, one.column), end: offset(lines, one.end_line, one.end_column), severity: one.severity }))
    .filter((one) => one.start <= one.end && one.end <= text.length).sort((a, b) => a.start - b.start);
  const parts = [];
  let at = 0;
  for (const span of spans) {
    if (span.start < at) continue;
    parts.push(text.slice(at, span.start));
    const shown = element("mark", text.slice(span.start, Math.max(span.end, span.start + 1)));
    shown.className = span.severity;
    parts.push(shown);
    at = Math.max(span.end, span.start + 1);
  }
  marks.replaceChildren(...parts, text.slice(at), "\n");
  scroll();
}

// Columns count characters, and offsets UTF-16 units.
function offset(lines, line, column) {
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return before + Array.from(lines[line - 1] ?? "").slice(0, column - 1).join("").length;
}

function scroll() {
  marks.scrollTop = numbers.scrollTop = code.scrollTop;
  marks.scrollLeft = code.scrollLeft;
}

function rename(name) {
  const wanted = prompt("Name of the file", name)?.trim();
  if (!wanted || wanted === name || wanted in files) return;
  files = Object.fromEntries(Object.entries(files).map(([key, text]) => [key === name ? wanted : key, text]));
  selected = wanted;
  show();
  ask();
}

// -- findings ---------------------------------------------------------------------------------------------------------

const worker = new Worker("worker.js", { type: "module" });
worker.onmessage = ({ data }) => {
  if (data.error && (data.id ?? asked) === asked) tell(data.error);
  if (data.report && data.id === asked) report(data.report);
};
worker.onerror = (event) => tell(`modellint cannot be loaded: ${event.message ?? "this browser has no module workers"}`);

function ask() {
  asked += 1;
  document.body.dataset.state = "checking";
  worker.postMessage({ id: asked, files });
}

function tell(text) {
  status.textContent = text;
  document.body.dataset.state = "told";
}

function report(found) {
  findings = found.findings;
  const number = findings.length;
  status.textContent = `${number === 0 ? "No findings" : number === 1 ? "1 finding" : `${number} findings`} in ${found.duration_s.toFixed(2)} s`;
  list.replaceChildren(...findings.map(card));
  mark();
  document.body.dataset.state = "done";
}

function card(finding) {
  const article = element("article");
  article.className = `finding ${finding.severity}`;
  const title = element("h3");
  const link = element("a", finding.code);
  if (finding.url) link.href = finding.url;
  title.append(`${finding.severity} `, link, " ", ...coded(finding.message));
  article.append(title, element("p", `${finding.path}:${finding.line}:${finding.column}`, "quiet"));
  if (finding.evidence.length) {
    const reasons = element("ul");
    reasons.append(...finding.evidence.map((fact) => { const item = element("li"); item.append(...coded(fact)); return item; }));
    article.append(reasons);
  }
  for (const other of finding.related) {
    const line = element("p", "", "quiet");
    line.append(`${other.path}:${other.line}: `, ...coded(other.message));
    article.append(line);
  }
  if (finding.help) {
    const help = element("p");
    help.append(...coded(finding.help));
    article.append(help);
  }
  const tools = element("div", "", "tools");
  const place = element("button", "Show");
  place.onclick = () => select(finding);
  tools.append(place);
  if (finding.fix) {
    const fix = element("button", `Fix: ${finding.fix.message.replaceAll("`", "")}`);
    fix.onclick = () => apply(finding.fix.edits);
    tools.append(fix);
  }
  article.append(tools);
  return article;
}

function select(finding) {
  selected = finding.path in files ? finding.path : selected;
  show();
  const lines = code.value.split("\n");
  code.focus();
  code.setSelectionRange(offset(lines, finding.line, finding.column), offset(lines, finding.end_line, finding.end_column));
}

function apply(edits) {
  for (const path of new Set(edits.map((edit) => edit.path))) {
    if (!(path in files)) continue;
    const lines = files[path].split("\n");
    const mine = edits.filter((edit) => edit.path === path)
      .map((edit) => ({ ...edit, from: offset(lines, ...edit.start), to: offset(lines, ...edit.end) })).sort((a, b) => b.from - a.from);
    for (const edit of mine) files[path] = files[path].slice(0, edit.from) + edit.text + files[path].slice(edit.to);
  }
  show();
  ask();
}

function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// A text whose parts in backquotes are code.
const coded = (text) => text.split("`").map((part, number) => (number % 2 ? element("code", part) : part));

// -- what people do ---------------------------------------------------------------------------------------------------

code.oninput = () => {
  files[selected] = code.value;
  findings = findings.filter((one) => one.path !== selected);
  mark();
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
};
code.onscroll = scroll;
code.onkeydown = (event) => {
  if (event.key !== "Tab" || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  code.setRangeText("    ", code.selectionStart, code.selectionEnd, "end");
  code.oninput();
};
byId("share").onclick = async () => {
  const hash = `#${await encode({ files, selected })}`;
  history.replaceState(null, "", hash);
  try {
    await navigator.clipboard.writeText(location.href);
    status.textContent = "The link is copied.";
  } catch {
    status.textContent = "The link is in the address bar.";
  }
};
byId("add").onclick = () => {
  const name = prompt("Name of the file", "hparams.yaml")?.trim();
  if (!name || name in files) return;
  files[name] = "";
  selected = name;
  show();
};
byId("remove").onclick = () => {
  delete files[selected];
  selected = Object.keys(files)[0];
  show();
  ask();
};
window.onhashchange = open;
open();
