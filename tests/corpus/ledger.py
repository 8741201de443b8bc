"""The precision ledger: what modellint says of pinned public packages, and whether that is so.

    python tests/corpus/ledger.py update FOLDER      check the packages, fetched to FOLDER, and note what changed
    python tests/corpus/ledger.py repository CLONE   the same for a clone that stands at the commit in recipes.json
    python tests/corpus/ledger.py render             write docs/precision.md and precision-findings.md

`update` keeps the verdicts that there are, forgets findings that are gone and notes new ones with an empty verdict:
read the code, then write "real" or "false alarm" with one line why, and what breaks where it is real. To add a package,
add its name and version to ledger.json.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packages import checked, lines_of, unpacked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

ROOT = Path(__file__).parent.parent.parent
LEDGER = Path(__file__).with_name("ledger.json")
RECIPES = Path(__file__).with_name("recipes.json")
SITES = Path(__file__).with_name("sites.json")
FIXES = Path(__file__).with_name("upstream_fixes.json")
SAMPLES = Path(__file__).with_name("samples.json")
PAGE = ROOT / "docs" / "precision.md"
FINDINGS_PAGE = ROOT / "docs" / "precision-findings.md"

REAL, FALSE_ALARM = "real", "false alarm"
VERDICTS = (REAL, FALSE_ALARM)

_HEAD = """\
# Precision

How often is a finding wrong? The answer depends on the code. modellint is measured on two kinds of code. Only the
first says what to expect on yours.

## Code that modellint was not tuned on

No author of modellint had read these public repositories before modellint checked them. The column *commit* names the
version of modellint. Then people compared each finding with the code. A finding is

- *true* if the code does what the finding says and breaks, for some inputs or settings at least,
- *false* if the code does not do what the finding says.

The remaining findings are correct, but nobody would change the code. After each sample, the authors fixed the causes of
the false findings, so the figures of a sample hold for its commit only. [Reading unknown code](unknown-code.md)
describes how to draw and read a sample.

{samples}

## Packages that modellint was tuned on

The authors read these {packages} public packages ({files:,} files, {lines:,} lines of Python) while they wrote the
rules, and fixed every false finding. The figures do not show how often modellint is wrong on other code. They show
whether a change of modellint loses a finding or adds a false one. A verdict is `real` if the code does what the finding
says and something breaks, for some inputs or settings at least, and `false alarm` otherwise.

{summary} modellint ran at default confidence. [All findings](precision-findings.md) are on a page of their own.

`tests/corpus/ledger.json` contains the findings, `python tests/corpus/ledger.py render` writes both pages, and a test
checks the packages again. It fails if a finding has no verdict, or a verdict no finding.
"""
_FINDINGS_HEAD = """\
# Findings in packages

This page lists what modellint reports about the packages that it [was tuned
on](precision.md#packages-that-modellint-was-tuned-on), with the verdict on each finding.
"""
_SITES_HEAD = """\
The last three columns show [recall](recall.md). People read places in research code and packages, and judged each as a
mistake, a [latent](glossary.md) mistake, or a look-alike: correct code that resembles the mistake. The columns show how
many of them each rule reports when modellint checks the file in its project (`tests/corpus/sites.json`). A cell is
empty if nobody judged such a place.
"""
#: What the columns of the sites are called, and the verdicts that they count.
_OF_SITES = (("mistakes", "bug"), ("latent", "latent"), ("look-alikes", "harmless"))
_RECIPES_HEAD = """\
## Recipes of the {name}

modellint reports {number} findings in the recipes and scripts of the repository at commit `{version}` ({files:,}
files), at default confidence. {real} of them are real, and {false} are false alarms. They are in
`tests/corpus/recipes.json`. A test checks them again if `MODELLINT_SPEECHBRAIN` names a clone.
"""
_FIXES_HEAD = """\
## Repaired upstream

A later release of each package repaired one of these mistakes (`tests/corpus/upstream_fixes.json`). modellint reports
the mistake in the older release (*flagged*), and nothing at that place in the newer one (*silent*). A test checks both.
"""


def read(path: Path = LEDGER) -> Any:
    """The packages of the ledger, or the repairs."""
    return json.loads(path.read_text("utf-8"))


def key_of(finding: Any) -> tuple[str, str, int, str]:
    """What makes two findings in the same release the same."""
    return finding["code"], finding["path"], finding["line"], finding["confidence"]


def differences(package: Any, report: Any, paths: Collection[str], codes: Collection[str]) -> list[str]:
    """The findings of some rules in some files that the ledger of a package has not, and those that it has alone."""
    there, now = (
        Counter(key_of(one) for one in found if one["path"] in paths and one["code"] in codes)
        for found in (package["findings"], report["findings"])
    )
    texts = {
        key_of(one): one.get("message") or one.get("text", "") for one in (*package["findings"], *report["findings"])
    }
    return [
        f"{sign} {path}:{line}: {code} ({confidence}) {texts[code, path, line, confidence]}"
        for sign, more in (("new ", now - there), ("gone", there - now))
        for code, path, line, confidence in sorted(more.elements())
    ]


def checked_again(package: Any, root: Path) -> Any:
    """The ledger's entry for a package as its files in `root` give it now, with the verdicts that there are."""
    report = checked(root)
    known = {key_of(finding): finding for finding in package.get("findings", ())}
    return {
        "name": package["name"],
        "version": package["version"],
        "files": report["files_checked"],
        "lines": lines_of(root),
        "findings": [_entry(finding, root, known.get(key_of(finding), {})) for finding in report["findings"]],
    }


def _entry(finding: Any, root: Path, known: Any) -> Any:
    lines = (root / finding["path"]).read_text("utf-8", "replace").splitlines()
    return {
        **{key: finding[key] for key in ("code", "path", "line", "symbol", "confidence")},
        "text": lines[finding["line"] - 1].strip(),
        "verdict": known.get("verdict", ""),
        "why": known.get("why", ""),
        **({"breaks": known["breaks"]} if "breaks" in known else {}),
    }


def rendered(packages: Any, recipes: Any, fixes: Any, sites: Any, samples: Any) -> str:
    """The page that shows the figures of the ledger."""
    return "\n".join((*_page(packages, sites, samples), *_repository(recipes), *_repairs(fixes)))


def rendered_findings(packages: Any, recipes: Any) -> str:
    """The page that lists the findings of the ledger with their verdicts."""
    return "\n".join((*_findings(packages, recipes), ""))


def _page(packages: Any, sites: Any, samples: Any) -> Iterator[str]:
    lines = sum(package["lines"] for package in packages)
    findings = [finding for package in packages for finding in package["findings"]]
    false = sum(finding["verdict"] == FALSE_ALARM for finding in findings)
    rate = f", one in {lines // false:,} lines" if false else ""
    summary = f"Of {len(findings)} findings, {len(findings) - false} are real and {false} are false alarms{rate}."
    yield _HEAD.format(
        samples="\n".join(_samples(samples)),
        packages=len(packages),
        files=sum(p["files"] for p in packages),
        lines=lines,
        summary=summary,
    )
    yield _SITES_HEAD
    heads = ("rule", "real", "false alarm", *(words for words, _ in _OF_SITES))
    yield f"| {' | '.join(heads)} |\n|---{'|---:' * (len(heads) - 1)}|"
    verdicts = Counter((finding["code"], finding["verdict"]) for finding in findings)
    for code in sorted({*(finding["code"] for finding in findings), *sites}):
        told = ("{} of {}".format(*found) if (found := sites.get(code, {}).get(kind)) else "" for _, kind in _OF_SITES)
        row = (code, str(verdicts[code, REAL]), str(verdicts[code, FALSE_ALARM]), *told)
        yield f"| {' | '.join(row)} |"
    yield "\n| package | version | files | lines | real | false alarm |\n|---|---|---:|---:|---:|---:|"
    for package in packages:
        of_package = Counter(finding["verdict"] for finding in package["findings"])
        yield (
            f"| {package['name']} | {package['version']} | {package['files']:,} | {package['lines']:,}"
            f" | {of_package[REAL]} | {of_package[FALSE_ALARM]} |"
        )


def _findings(packages: Any, recipes: Any) -> Iterator[str]:
    """The findings in each package, then those in the recipes of a repository."""
    yield _FINDINGS_HEAD.rstrip("\n")
    for package in packages:
        if package["findings"]:
            yield f"\n## {package['name']} {package['version']}"
            yield from _told(package["findings"])
    yield f"\n## Recipes of the {recipes['name']}"
    yield from _told(recipes["findings"])


def _samples(samples: Any) -> Iterator[str]:
    """The table of the samples of unknown code."""
    yield "| sample | read on | commit | lines of Python | severities | findings | true | false |"
    yield "|---|---|---|---:|---|---:|---:|---:|"
    for one in samples:
        true = f"{one['true']} ({one['true'] / one['findings']:.0%})"
        cells = (one["name"], one["date"], one["commit"], f"{one['lines']:,}", one["told"], str(one["findings"]))
        yield f"| {' | '.join(cells)} | {true} | {one['false']} |"


def _repository(recipes: Any) -> Iterator[str]:
    """The findings in a repository's recipes: how many files each rule finds something in, then each of them."""
    findings = recipes["findings"]
    verdicts = Counter(finding["verdict"] for finding in findings)
    yield "\n" + _RECIPES_HEAD.format(**recipes, number=len(findings), real=verdicts[REAL], false=verdicts[FALSE_ALARM])
    yield "| rule | findings | files | real | false alarm |\n|---|---:|---:|---:|---:|"
    for code in sorted({finding["code"] for finding in findings}):
        of_code = [finding for finding in findings if finding["code"] == code]
        told = Counter(finding["verdict"] for finding in of_code)
        files = len({finding["path"] for finding in of_code})
        yield f"| {code} | {len(of_code)} | {files} | {told[REAL]} | {told[FALSE_ALARM]} |"


def _told(findings: Any) -> Iterator[str]:
    """The findings of a package; those with the same words on them together."""
    groups: dict[Any, list[Any]] = {}
    for finding in findings:
        words = finding["code"], finding["verdict"], finding["why"], finding.get("breaks", "")
        groups.setdefault(words, []).append(finding)
    for (code, verdict, why, breaks), alike in groups.items():
        yield f"\n**{code}** · {verdict}. {why} {breaks}".rstrip() + "\n"
        for finding in alike:
            yield f"- `{finding['path']}:{finding['line']}`: `{finding['text'].replace('`', '')}`"


def _repairs(fixes: Any) -> Iterator[str]:
    yield f"\n{_FIXES_HEAD}"
    yield "| rule | package | flagged | silent | place | what was wrong | how it was repaired |"
    yield "|---|---|---|---|---|---|---|"
    for fix in fixes:
        place = f"`{fix['path']}`, `{fix['symbol']}`"
        repair = f"{fix['repair']} ([report]({fix['reference']}))" if "reference" in fix else fix["repair"]
        cells = (fix["code"], fix["package"], fix["older"], fix["newer"], place, fix["wrong"], repair)
        yield f"| {' | '.join(cells)} |"
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    update = commands.add_parser("update")
    update.add_argument("folder", type=Path)
    update.add_argument("--only", default=None, help="the name of a package")
    repository = commands.add_parser("repository")
    repository.add_argument("clone", type=Path)
    commands.add_parser("render")
    options = parser.parse_args()
    if options.command == "update":
        packages = read()
        for number, package in enumerate(packages):
            if options.only in (None, package["name"]):
                root = unpacked(package["name"], package["version"], options.folder.resolve())
                packages[number] = checked_again(package, root)
        LEDGER.write_text(json.dumps(packages, indent=2, ensure_ascii=False) + "\n", "utf-8")
    if options.command == "repository":
        recipes = checked_again(read(RECIPES), options.clone.resolve())
        RECIPES.write_text(json.dumps(recipes, indent=2, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(rendered(read(), read(RECIPES), read(FIXES), read(SITES), read(SAMPLES)), "utf-8")
    FINDINGS_PAGE.write_text(rendered_findings(read(), read(RECIPES)), "utf-8")


if __name__ == "__main__":
    main()
