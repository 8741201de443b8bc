// Drives pages in Chromium: `node browser.mjs NODE_MODULES CHROMIUM URL STEPS`. STEPS is a JSON list of steps; the
// result of each is a line of JSON. Errors and failed requests of the page are failures.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, executablePath, url, steps] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
const page = await context.newPage();
const failures = [];
page.on("pageerror", (error) => failures.push(error.message));
page.on("requestfailed", (request) => failures.push(request.url()));
page.on("request", (request) => {
  if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith("blob:")) failures.push(`loads ${request.url()}`);
});
const actions = {
  open: async (path) => { await page.goto(url + path); },
  wait: async (state) => {
    await page.waitForSelector('body:is([data-state="done"], [data-state="told"])', { timeout: 300_000 });
    const [found, told] = [await page.getAttribute("body", "data-state"), await page.textContent("#status")];
    if (found !== state) throw new Error(`${found}: ${told}`);
  },
  says: async (text) => { await page.locator("#status", { hasText: text }).waitFor({ timeout: 300_000 }); },
  text: (selector) => page.textContent(selector),
  texts: (selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent)),
  value: (selector) => page.inputValue(selector),
  fill: async (text) => { await page.evaluate(() => { document.body.dataset.state = "typing"; }); await page.fill("#code", text); },
  click: async (selector) => { await page.evaluate(() => { document.body.dataset.state = "clicked"; }); await page.click(selector); },
  selection: () => page.$eval("#code", (area) => area.value.slice(area.selectionStart, area.selectionEnd)),
  address: () => page.url(),
  axe: async () => {
    await page.evaluate(readFileSync(require.resolve("axe-core"), "utf8")); // a page's own policy may allow no script but its own
    const found = await page.evaluate(() => axe.run());
    return found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes[0].html}`);
  },
};
try {
  for (const [name, ...given] of JSON.parse(steps)) console.log(JSON.stringify((await actions[name](...given)) ?? null));
} finally {
  await browser.close();
}
if (failures.length) {
  console.error(failures.join("\n"));
  process.exit(1);
}
