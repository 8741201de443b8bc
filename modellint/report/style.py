"""The style and the script of the report, beside those of maps."""

from __future__ import annotations

STYLE_OF_REPORT = """
h3 { font-size: 1rem; margin: 0; display: inline; overflow-wrap: anywhere; }
h4 { font-size: 1rem; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
nav a { margin-right: 1rem; color: var(--moves); }
.counts { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; list-style: none; padding: 0; margin: .8rem 0; }
.counts .error b, .finding.error .severity { color: var(--lost); }
.counts .warning b, .finding.warning .severity { color: var(--maybe); }
.counts .info b, .finding.info .severity { color: var(--moves); }
details.file { margin: 1.2rem 0; }
summary { cursor: pointer; }
summary span { color: var(--quiet); }
summary:focus-visible, a:focus-visible { outline: 3px solid var(--moves); outline-offset: 2px; }
.finding { margin: .8rem 0; padding: .8rem 1rem;
  border: 1px solid var(--line); border-left-width: 5px; border-radius: 6px; }
.finding.error { border-left-color: var(--lost); } .finding.warning { border-left-color: var(--maybe); }
.finding.info { border-left-color: var(--moves); }
.finding a { color: var(--moves); }
.finding[hidden], details[hidden] { display: none; }
pre { background: var(--card); border-radius: 6px; padding: .6rem .8rem; margin: .5rem 0; overflow-x: auto;
  font: .88em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre span { display: block; min-height: 1.5em; }
.frame i { display: inline-block; min-width: 3.5em; color: var(--quiet); font-style: normal; user-select: none; }
mark { background: var(--mark); color: inherit; border-bottom: 2px solid var(--maybe); }
.added { color: var(--saves); } .removed { color: var(--lost); } .same { color: var(--quiet); }
.verdict.confirmed b { color: var(--lost); } .verdict.refuted b { color: var(--saves); }
.verdict.unconfirmed b { color: var(--maybe); }
p.left-out, .tree .left-out { color: var(--lost); font-weight: 600; }
.tree, .tree ul { list-style: none; padding-left: 1.2rem; }
.tree > li { margin: .4rem 0; }
.tree .yes { color: var(--saves); } .tree .maybe, .tree .unknown { color: var(--maybe); }
""".strip()

SCRIPT = """
"use strict";
const search = document.getElementById("filter");
const boxes = [...document.querySelectorAll("input[data-severity]")];
function show() {
  const wanted = search.value.trim().toLowerCase();
  const severities = new Set(boxes.filter((box) => box.checked).map((box) => box.dataset.severity));
  for (const file of document.querySelectorAll("details.file")) {
    const name = file.querySelector("summary").textContent.toLowerCase();
    let some = false;
    for (const finding of file.querySelectorAll("article.finding")) {
      const fits = severities.has(finding.dataset.severity)
        && (name.includes(wanted) || finding.textContent.toLowerCase().includes(wanted));
      finding.hidden = !fits;
      some = some || fits;
    }
    file.hidden = !some;
  }
}
if (search) {
  search.addEventListener("input", show);
  for (const box of boxes) box.addEventListener("change", show);
  document.getElementById("tools").hidden = false;
}
""".strip()
