"""Static parts of a map's web page: its style, and a script that only filters and highlights."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f7f9; --line: #d5d9e0; --text: #1b1f24; --quiet: #57606a; --mark: #fff3bf;
  --moves: #1a5fb4; --trains: #813d9c; --saves: #166b3c; --loads: #8a5a00; --registers: #1a5fb4; --uses: #57606a;
  --lost: #c01c28; --lost-card: #fdecec; --maybe: #8a5a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --card: #1e2329; --line: #39414b; --text: #e6e9ed; --quiet: #a3adb8; --mark: #4d4316;
    --moves: #7db4f5; --trains: #d3a4e8; --saves: #6fd39b; --loads: #e8bd5c; --registers: #7db4f5; --uses: #a3adb8;
    --lost: #ff8a8f; --lost-card: #3a1d20; --maybe: #e8bd5c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem clamp(1rem, 3vw, 3rem) 4rem; max-width: 90rem;
  background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.35rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .2rem; overflow-wrap: anywhere; }
p { margin: .2rem 0; }
.quiet { color: var(--quiet); }
code, td:first-child, td:nth-child(2) {
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .92em;
}
.alarm {
  margin: 1rem 0; padding: .7rem 1rem; border-left: 5px solid var(--lost); border-radius: 0 6px 6px 0;
  background: var(--lost-card);
}
.alarm h3 { margin: 0 0 .3rem; font-size: 1rem; color: var(--lost); }
.alarm ul { margin: 0; padding-left: 1.2rem; }
.fine { margin: 1rem 0; color: var(--saves); font-weight: 600; }
.tools { display: flex; flex-wrap: wrap; gap: .6rem 1.4rem; align-items: center; margin: 1rem 0; }
.tools label { display: inline-flex; gap: .5rem; align-items: center; }
input[type="search"] {
  font: inherit; color: inherit; background: var(--page); border: 1px solid var(--quiet); border-radius: 6px;
  padding: .25rem .6rem; min-width: 15rem;
}
input:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--moves); outline-offset: 2px; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 8px; overflow: clip; }
.scroll { overflow-x: auto; }
@media (min-width: 75rem) { .scroll { overflow-x: visible; } .heads { position: sticky; top: 0; } }
.heads { background: var(--card); border-bottom: 1px solid var(--line); z-index: 1; }
svg {
  display: block; margin: 0 auto;
  font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
svg text { fill: var(--text); }
.lane rect { fill: var(--page); stroke: var(--edge); stroke-width: 2; }
.lane text { font-weight: 600; }
.moves { --edge: var(--moves); } .trains { --edge: var(--trains); } .saves { --edge: var(--saves); }
.loads { --edge: var(--loads); } .registers { --edge: var(--registers); } .uses { --edge: var(--uses); }
.trunk { fill: none; stroke: var(--edge); stroke-width: 2; }
.branch { fill: none; stroke: var(--edge); stroke-width: 2; }
.branch.perhaps { stroke-dasharray: 5 4; }
.tip { fill: var(--edge); }
.branch.lost { stroke: var(--lost); stroke-dasharray: 3 4; stroke-width: 2.5; }
.cross { fill: none; stroke: var(--lost); stroke-width: 3; }
svg text.lost {
  fill: var(--lost); font-weight: 700; stroke: var(--page); stroke-width: 4px; paint-order: stroke;
}
.nest { fill: none; stroke: var(--quiet); stroke-width: 1.5; }
.layer > rect { fill: var(--card); stroke: var(--quiet); stroke-width: 1.2; }
.layer.loose > rect { fill: var(--lost-card); stroke: var(--lost); stroke-width: 2.5; }
.layer .name { font-weight: 600; font-size: 13px; }
.layer.loose .name { fill: var(--lost); }
.layer .detail { fill: var(--quiet); font-size: 11.5px; }
.layer:hover > rect { stroke-width: 2.5; stroke: var(--text); }
.layer:hover .branch { stroke-width: 4; }
.dim { opacity: .15; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; padding: .5rem .9rem; border-top: 1px solid var(--line);
  list-style: none; margin: 0; font-size: .9em; color: var(--quiet); }
.legend li { display: inline-flex; align-items: center; gap: .45rem; }
.legend i { width: 26px; border-top: 3px solid var(--edge); }
.legend i.lost { border-top: 3px dotted var(--lost); } .legend i.perhaps { border-top: 3px dashed var(--quiet); }
.wide { overflow-x: auto; margin-top: 1.2rem; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: .93em; }
caption { text-align: left; padding: .5rem .8rem; color: var(--quiet); }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem; border-top: 1px solid var(--line); }
th { background: var(--card); white-space: nowrap; }
td { overflow-wrap: break-word; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.yes { color: var(--saves); } td.maybe, td.unknown { color: var(--maybe); }
td.left-out { color: var(--lost); font-weight: 700; }
tr.loose { background: var(--lost-card); }
td ul { margin: 0; padding: 0; list-style: none; }
tr[hidden] { display: none; }
footer { margin-top: 2.5rem; font-size: .85em; color: var(--quiet); }
@media print { .tools { display: none; } figure { break-inside: avoid; } }
""".strip()

SCRIPT = """
"use strict";
const search = document.getElementById("filter");
const onlyLoose = document.getElementById("loose");
function show() {
  const wanted = search.value.trim().toLowerCase();
  for (const element of document.querySelectorAll("g.layer, tbody tr")) {
    const fits = element.textContent.toLowerCase().includes(wanted)
      && (!onlyLoose.checked || element.classList.contains("loose"));
    if (element.tagName === "TR") element.hidden = !fits;
    else element.classList.toggle("dim", !fits);
  }
}
search.addEventListener("input", show);
onlyLoose.addEventListener("change", show);
document.getElementById("tools").hidden = false;
""".strip()
