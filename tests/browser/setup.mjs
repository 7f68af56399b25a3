// Registers an App as a person does: `node setup.mjs PAGE FORGE [FOLDER]`, where PAGE is the page of `evidence-gate setup` and FORGE the forge
// that it was started for. The forge is the caller's; it takes the manifest as GitHub does and sends the person back with a code.
// Everything that is wrong is printed, a line each, and the exit code is 1. With FOLDER each page is kept as a picture at two widths.
import { chromium } from "playwright-core";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [page, forge, folder] = process.argv.slice(2);
const wrong = [];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
// The way itself works without scripts.
const context = await browser.newContext({ javaScriptEnabled: true, viewport: { width: 1280, height: 800 } });
const tab = await context.newPage();
tab.on("console", (message) => message.type() === "error" && !message.text().includes("422") && wrong.push(`console: ${message.text()}`));
tab.on("request", (request) => {
  const { origin } = new URL(request.url());
  if (origin !== new URL(page).origin && origin !== new URL(forge).origin) wrong.push(`asks another host: ${request.url()}`);
});

await tab.goto(page);
await looked("1-ask");
// What cannot be an address is asked for again, and nothing that was typed is lost.
await tab.fill("#name", "gate-of-acme");
await tab.fill("#webhook", "ftp://gate.example.com/webhooks/github");
await tab.click("button");
if (!(await tab.locator("[role=alert]").innerText()).includes("https://")) wrong.push("a bad address is not told of");
if ((await tab.inputValue("#name")) !== "gate-of-acme") wrong.push("the name is lost");
await tab.fill("#webhook", "https://gate.example.com/webhooks/github");
await tab.click("button");
await looked("2-lead");
await tab.click("button");
await tab.waitForURL((url) => url.href.startsWith(`${new URL(page).origin}/back`));
const text = await tab.locator("body").innerText();
if (!text.includes("The App is registered")) wrong.push(`the last page says: ${text}`);
await looked("3-done");
await browser.close();

for (const line of wrong) console.log(line);
console.log(`3 pages, ${wrong.length} faults`);
process.exit(wrong.length === 0 ? 0 : 1);

async function looked(name) {
  const at = await tab.content();
  for (const [width, colorScheme] of [[1280, "light"], [375, "dark"]]) {
    await tab.setViewportSize({ width, height: 800 });
    await tab.emulateMedia({ colorScheme });
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) wrong.push(`${name} ${width}: ${wide} px wider than the window`);
    if (folder) await tab.screenshot({ path: path.join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    await tab.evaluate(axe);
    const { violations } = await tab.evaluate(() => globalThis.axe.run());
    for (const { id, nodes } of violations) wrong.push(`${name} ${width}: axe: ${id}: ${nodes[0].target.join(" ")}`);
  }
  if (at.includes("canary")) wrong.push(`${name}: a secret is on the page`);
}
