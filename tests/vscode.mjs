// Drives Visual Studio Code in Chromium: `node vscode.mjs NODE_MODULES CHROMIUM URL FILE SHOTS TOUR`. What each step shows is a
// line of JSON: {"squiggle": …}. SHOTS is a folder for a picture of a failure; TOUR is "findings" or "no server".
import { createRequire } from "node:module";

const [modules, executablePath, url, file, shots, tour] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
const WAIT = 120_000;
const tell = (name, value) => console.log(JSON.stringify({ [name]: value }));
const command = async (text) => {
  await page.keyboard.press("F1");
  await page.waitForSelector(".quick-input-widget input", { timeout: WAIT });
  await page.keyboard.type(text);
  await page.waitForSelector(`.quick-input-list-entry:has-text("${text}")`, { timeout: WAIT });
  await page.keyboard.press("Enter");
};
const frames = async (selector) => {
  const end = Date.now() + WAIT;
  while (Date.now() < end) {
    for (const frame of page.frames()) {
      const found = await frame.$(selector).catch(() => null);
      if (found) return found;
    }
    await page.waitForTimeout(500);
  }
  throw new Error(`no ${selector} in any frame`);
};
// The name may be typed before the list of files is there, so that nothing is opened: then once more.
async function open() {
  for (let left = 4; ; left--) {
    await page.keyboard.press("Control+P");
    await page.waitForSelector(".quick-input-widget input", { timeout: WAIT });
    await page.keyboard.type(file);
    await page.waitForSelector(`.quick-input-list-entry:has-text("${file}")`, { timeout: WAIT });
    await page.keyboard.press("Enter");
    const shown = await page.waitForSelector(`.tab:has-text("${file}")`, { timeout: WAIT / 4 }).catch(() => null);
    if (shown) return;
    if (left === 1) throw new Error(`${file} is not opened`);
    await page.keyboard.press("Escape");
  }
}
async function findings() {
  await page.waitForSelector(".squiggly-error", { timeout: WAIT });
  tell("squiggle", (await page.$$(".squiggly-error")).length);
  await page.waitForSelector('.statusbar-item:has-text("modellint 1")', { timeout: WAIT });
  tell("status", (await page.getAttribute('.statusbar-item:has-text("modellint") a', "aria-label")) ?? "");
  // A hint of a shape stands behind the name of a tensor.
  const hint = await page.waitForSelector('.view-line span:has-text("float32")', { timeout: WAIT });
  tell("hint", await hint.textContent());
  // The hover text of the finding.
  const line = page.locator(".view-line", { hasText: "self.layers" }).first();
  await line.hover({ position: { x: 110, y: 8 } });
  const hover = await page.waitForSelector('.monaco-hover:has-text("layers-in-plain-container")', { timeout: WAIT });
  tell("hover", await hover.innerText());
  // The map of the class, in a web view.
  await line.click();
  await command("modellint: Show the Map of This Recipe or Class");
  tell("map", await (await frames("main, body h1")).innerText());
  await page.keyboard.press("Control+1");
  // The quick fix.
  await line.click();
  await command("modellint: Fix All That Is Safe");
  await page.waitForSelector('.view-line:has-text("ModuleList")', { timeout: WAIT });
  tell("fixed", await page.locator(".view-line", { hasText: "ModuleList" }).first().textContent());
  await page.waitForFunction(() => document.querySelectorAll(".squiggly-error").length === 0, undefined, { timeout: WAIT });
  tell("left", (await page.$$(".squiggly-error")).length);
}

async function noServer() {
  // Newer messages push a toast away; the centre of notifications keeps it.
  const message = '.notification-list-item:has-text("modellint")';
  let seen = await page.waitForSelector(message, { timeout: WAIT / 4 }).catch(() => null);
  if (!seen) {
    await command("Notifications: Show Notifications");
    seen = await page.waitForSelector(message, { timeout: WAIT });
  }
  tell("message", await seen.innerText());
}

try {
  await page.goto(url);
  await page.waitForSelector(".monaco-workbench .explorer-folders-view, .monaco-workbench .editor-group-container", { timeout: WAIT });
  await open();
  await (tour === "findings" ? findings() : noServer());
} catch (error) {
  await page.screenshot({ path: `${shots}/failure.png` }).catch(() => undefined);
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await browser.close();
}
