// Reads the prose of the project with write-good: `node .ci/words.cjs FOLDER`, as `.ci/words` runs it. NODE_PATH names the packages.
// The phrases below are those that this project avoids.
const fs = require("fs");
const path = require("path");
const writeGood = require("write-good");

const checks = { weasel: false, passive: false, adverb: false, tooWordy: false, eprime: false };
const phrases = [
  [/\bby heart\b/gi, "say which facts are shipped"],
  [/\bmend(s|ed|ing)?\b/gi, "say `fix` or `repair`"],
  [/\b(is|are|was|were|be) (told|said)\b/gi, "name the actor: `modellint reports`, `the page says`"],
  [/\bnobody here\b/gi, "name the people"],
  [/\bwhoever\b/gi, "name the person or the code"],
  [/\b(dear|dearer|dearest)\b/gi, "say `expensive`"],
  [/\bfor want of\b/gi, "say `because … is missing`"],
  [/\bup to then\b/gi, "say `until then`"],
  [/\bbut for\b/gi, "say `except`"],
  [/\bfound out\b/gi, "say `determined`, or `unknown`"],
  [/\bis there already\b/gi, "say `exists`"],
  [/\bof which\b/gi, "split the sentence"],
  // A clause as subject, as in "What is kept is not checked again."
  [/(?:^|[.:;] )(?:What|Whether|Whatever) (?![^.?!\n]*\?)[^.?!\n]{2,80}? (?:is|are|has|have) /gm, "begin with the actor"],
];

const root = process.argv[2];
let found = 0;
for (const group of ["pages", "help", "rules"]) {
  for (const name of fs.readdirSync(path.join(root, group)).sort()) {
    const text = fs.readFileSync(path.join(root, group, name), "utf8");
    const told = writeGood(text, checks).map(({ index, reason }) => [index, reason]);
    for (const [pattern, advice] of phrases) {
      told.push(...[...text.matchAll(pattern)].map((match) => [match.index, `"${match[0].trim()}": ${advice}`]));
    }
    for (const [index, reason] of told.sort(([one], [other]) => one - other)) {
      console.log(`${group}/${name}:${text.slice(0, index).split("\n").length}: ${reason}`);
      found += 1;
    }
  }
}
console.log(`${found} phrases to rewrite`);
process.exit(found > 0 ? 1 : 0);
