// Looks at pages as people do: `node look.mjs PLAN.json`, where the plan is
// {"out": FOLDER, "pages": [{"name", "url", "status"?, "cookie"?, "says"?: [TEXTS], "folded"?}]}; what is folded away is looked at too, unless it is "folded".
// Each page is opened at two widths in light and in dark. Everything that is wrong is printed, a line each, and the exit code is 1.
import { chromium } from "playwright-core";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const plan = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const sizes = [{ width: 1280, height: 900 }, { width: 375, height: 720 }];
const wrong = [];
fs.mkdirSync(plan.out, { recursive: true });

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

for (const page of plan.pages) {
  for (const viewport of sizes) {
    for (const colorScheme of ["light", "dark"]) await look(page, viewport, colorScheme);
  }
}
await links(plan.pages);
await keyboard(plan.pages[0]);
await browser.close();
for (const line of wrong) console.log(line);
console.log(`${plan.pages.length} pages, ${wrong.length} faults`);
process.exit(wrong.length === 0 ? 0 : 1);

// JavaScript is on only for axe: the pages bring none, and say that none may run.
async function look({ name, url, cookie, status = 200, says = [], folded = false }, viewport, colorScheme) {
  const where = `${name} ${viewport.width} ${colorScheme}`;
  const fault = (what) => wrong.push(`${where}: ${what}`);
  const { context, tab } = await open(url, cookie, viewport, colorScheme);
  const expected = (text) => text.includes(`status of ${status} `);
  tab.on("console", (message) => message.type() === "error" && !expected(message.text()) && fault(`console: ${message.text()}`));
  tab.on("pageerror", (error) => fault(`error: ${error}`));
  tab.on("requestfailed", (request) => fault(`not loaded: ${request.url()}`));
  tab.on("request", (request) => {
    if (new URL(request.url()).host !== new URL(url).host) fault(`asks another host: ${request.url()}`);
  });
  const answer = await tab.goto(url);
  if (answer.status() !== status) fault(`is answered ${answer.status()}`);
  const text = await tab.locator("body").innerText();
  for (const words of says) if (!text.includes(words)) fault(`does not say ${JSON.stringify(words)}`);
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) fault(`is ${wide} px wider than the window`);
  const file = `${name}-${viewport.width}-${colorScheme}.png`;
  await tab.screenshot({ path: path.join(plan.out, file), fullPage: true });
  if (!folded) await tab.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate(() => globalThis.axe.run());
  for (const { id, nodes } of violations) fault(`axe: ${id}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`);
  await context.close();
}

async function open(url, cookie, viewport, colorScheme) {
  const context = await browser.newContext({ viewport, colorScheme });
  if (cookie) {
    const [key, value] = cookie.split("=");
    await context.addCookies([{ name: key, value, url: new URL(url).origin }]);
  }
  return { context, tab: await context.newPage() };
}

// Every link of every page leads to a page of ours that is there.
async function links(pages) {
  for (const { name, url, cookie } of pages.filter(({ status }) => !status)) {
    const { context, tab } = await open(url, cookie, sizes[0], "light");
    await tab.goto(url);
    const found = await tab.evaluate(() => [...document.querySelectorAll("a[href]")].map((link) => link.href));
    for (const href of new Set(found)) {
      const [address, anchor] = href.split("#");
      if (new URL(address).host !== new URL(url).host) { wrong.push(`${name}: links to ${href}`); continue; }
      if (address.endsWith("/sign-in/forge")) continue;
      const answer = await context.request.get(address);
      if (!answer.ok()) wrong.push(`${name}: ${href} is answered ${answer.status()}`);
      else if (anchor && !(await answer.text()).includes(`id="${anchor}"`)) wrong.push(`${name}: ${href} leads to no anchor`);
    }
    await context.close();
  }
}

// With the keyboard alone: the first stop is the way past the navigation, everything that can be used is a stop, and the stop can be seen.
async function keyboard({ name, url, cookie }) {
  const { context, tab } = await open(url, cookie, sizes[0], "light");
  await tab.goto(url);
  await tab.keyboard.press("Tab");
  const first = await tab.evaluate(() => document.activeElement?.textContent);
  if (first !== "Skip to content") wrong.push(`${name}: the first stop is ${JSON.stringify(first)}`);
  const visible = await tab.evaluate(() => document.activeElement.getBoundingClientRect().left >= 0);
  if (!visible) wrong.push(`${name}: the first stop cannot be seen`);
  const wanted = await tab.evaluate(() => document.querySelectorAll("a[href], button, summary, input").length);
  const stops = new Set([await at(tab)]);
  for (let press = 0; press < wanted + 5; press += 1) {
    await tab.keyboard.press("Tab");
    stops.add(await at(tab));
    const ringed = await tab.evaluate(() => document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== "none");
    if (!ringed) wrong.push(`${name}: a stop has no ring: ${await at(tab)}`);
  }
  stops.delete("-1");
  // What is folded away inside a closed `details` is no stop, and is not counted.
  const hidden = await tab.evaluate(() => document.querySelectorAll("details:not([open]) a[href], details:not([open]) button").length);
  if (stops.size < wanted - hidden) wrong.push(`${name}: ${wanted - hidden} things can be used, and ${stops.size} are stops`);
  await context.close();
}

function at(tab) {
  return tab.evaluate(() => String([...document.querySelectorAll("a[href], button, summary, input")].indexOf(document.activeElement)));
}
