// Goal: the status page works in a real browser, under its own policy, at every width, and tells a foreign page nothing.
//
// Usage: node status_page.mjs URL [SCREENSHOT]
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import axe from "axe-core";
import { chromium } from "playwright-core";

const [url, screenshot] = process.argv.slice(2);
const page_url = new URL("/_varve/", url).href;
const kAccount = "devstoreaccount1";
const kKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const kMarkup = "<img src=x onerror=alert(1)>";

async function send(verb, path, body) {
  const date = new Date().toUTCString();
  const signed = createHmac("sha256", Buffer.from(kKey, "base64")).update(`${date}\n/${kAccount}/${kAccount}/${path.split("?")[0]}`);
  const answer = await fetch(new URL(`/${kAccount}/${path}`, url), {
    method: verb,
    headers: {
      "x-ms-date": date,
      "x-ms-version": "2019-02-02",
      Accept: "application/json;odata=nometadata",
      "Content-Type": "application/json",
      Authorization: `SharedKeyLite ${kAccount}:${signed.digest("base64")}`,
    },
    body: body && JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/// Some traffic that goes on until it is stopped.
function keepBusy() {
  let isOver = false;
  const one = async (worker) => {
    for (let i = 0; !isOver; ++i) {
      const row = `${worker}-${String(i).padStart(6, "0")}`;
      await send("POST", "Visits", { PartitionKey: `2026-03-0${1 + (i % 5)}`, RowKey: row, Path: "/orders", Milliseconds: i % 97 });
      await send("GET", `Orders(PartitionKey='eu',RowKey='${String(i % 3000).padStart(6, "0")}')`);
      if (i % 4 === 0) await send("GET", "Orders()?$top=10");
      if (i % 40 === 0) await send("GET", "Orders(PartitionKey='nowhere',RowKey='0')");
    }
  };
  const workers = [0, 1].map(one);
  return async () => {
    isOver = true;
    await Promise.all(workers);
  };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--host-resolver-rules=MAP rebound.example 127.0.0.1"],
});

const complaints = [];
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => complaints.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
  page.on("request", (request) => request.url().startsWith(url) || complaints.push(`asks ${request.url()}`));
  await page.goto(page_url);
  await page.waitForFunction(() => Number(document.body.dataset.answers) >= 2);
  return page;
}

const steps = {
  async "figures are shown and live"() {
    const page = await open();
    assert.equal(await page.textContent("#health"), "healthy");
    const stop = keepBusy();
    try {
      await page.waitForFunction(() => document.querySelector("#tiles dd").textContent.trim() !== "0 a second");
      await page.waitForSelector("#operations td:text-is('InsertEntity')");
      await page.waitForSelector("#rate-chart polyline");
      assert.ok((await page.$$("#levels-picture rect.file")).length >= 1, "a file is drawn");
      assert.ok((await page.$$("#levels tr")).length >= 2, "the levels are told");
    } finally {
      await stop();
    }
  },

  async "tables are looked into"() {
    const page = await open();
    await page.click("#tables button:text-is('Orders')");
    await page.waitForSelector("#result td.key");
    assert.equal(await page.locator("#result tbody tr").count(), 20);
    await page.waitForSelector("#tables tr[data-table=Orders] td.number:text-matches('[0-9]')");
    const first = await page.textContent("#result tbody tr td:nth-child(2)");
    await page.click("#next");
    await page.waitForFunction((was) => document.querySelector("#result tbody tr td:nth-child(2)").textContent !== was, first);
    assert.equal(await page.textContent("#place"), "Page 2");
    await page.click("#previous");
    await page.waitForFunction((was) => document.querySelector("#result tbody tr td:nth-child(2)").textContent === was, first);

    await page.fill("#filter", "PartitionKey eq 'eu' and RowKey lt '000010' and Lines ge 3");
    await page.press("#filter", "Enter");
    await page.waitForFunction(() => document.querySelector("#plan b").textContent === "row range");
    assert.match(await page.textContent("#plan"), /judged of each: Lines ge 3/);
    await page.fill("#filter", "PartitionKey eq");
    await page.press("#filter", "Enter");
    await page.waitForSelector("#query-error:not([hidden])");
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes("400 (Bad Request)")));
  },

  async "queues are looked into, and nothing is taken"() {
    const page = await open();
    for (let round = 0; round < 2; ++round) {
      await page.click("#queues button:text-is('shipments')");
      await page.waitForSelector("#result td[data-name=Text]:text-is('eu/0001')");
      assert.equal(await page.locator("#result tbody tr").count(), 2);
      assert.match(await page.textContent("#result .note"), /^2 visible of 2 messages/);
      assert.equal(await page.locator("#result td").filter({ hasText: kMarkup }).count(), 1);
      assert.equal(await page.locator("#result img").count(), 0);
      assert.ok(await page.isHidden("#query"), "a filter is for tables");
      await page.click("#tables button:text-is('Orders')");
      await page.waitForSelector("#result td.key");
      assert.ok(await page.isVisible("#query"));
    }
  },

  async "containers are looked into, by directories"() {
    const page = await open();
    await page.click("#containers button:text-is('manuals')");
    await page.waitForSelector("#result td[data-name=Name]:text-is('readme.txt')");
    assert.ok(await page.isHidden("#query"), "a filter is for tables");
    await page.click("#result td button:text-is('eu/')");
    await page.waitForSelector("#result td[data-name=Name]:text-is('0001.txt')");
    assert.equal(await page.textContent("#result .path"), "manualseu/");
    assert.equal(await page.locator("#result td").filter({ hasText: kMarkup }).count(), 1);
    assert.equal(await page.locator("#result img").count(), 0);
    await page.click("#result .path button:text-is('manuals')");
    await page.waitForSelector("#result td[data-name=Name]:text-is('readme.txt')");
    await page.click("#tables button:text-is('Orders')");
    await page.waitForSelector("#result td.key");
    assert.ok(await page.isVisible("#query"));
  },

  async "what tables hold stays text"() {
    const page = await open();
    await page.click("#tables button:text-is('Notes')");
    await page.waitForSelector("#result td.key");
    assert.equal(await page.locator("#result td").filter({ hasText: kMarkup }).count(), 2);
    assert.equal(await page.locator("#result img").count(), 0);
    await page.click("#tables button:text-is('Empty')");
    await page.waitForSelector("#result p:text-is('No entities.')");
  },

  async "it fits every width, light and dark"() {
    const grounds = new Set();
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 800, 380]) {
        const page = await open({ colorScheme, viewport: { width, height: 900 } });
        await page.click("#tables button:text-is('Orders')");
        await page.waitForSelector("#result td.key");
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(beyond <= 0, `${width} wide: ${beyond} beyond the edge`);
        const covered = await page.evaluate(overlaps);
        assert.deepEqual(covered, [], `${width} wide`);
        grounds.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        await page.context().close();
      }
    }
    assert.equal(grounds.size, 2);
  },

  async "everybody can read and reach it, light and dark"() {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 380]) {
        const page = await open({ colorScheme, viewport: { width, height: 900 } });
        await page.click("#tables button:text-is('Orders')");
        await page.waitForSelector("#result td.key");
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate(() => window.axe.run());
        const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
        assert.deepEqual(told, [], `${colorScheme}, ${width} wide`);
        await page.context().close();
      }
    }
  },

  async "a phone shows properties"() {
    const page = await open({ viewport: { width: 380, height: 900 }, hasTouch: true, isMobile: true });
    await page.click("#tables button:text-is('Orders')");
    for (const [name, pattern] of [["Customer", /^Customer [0-9]+$/], ["Lines", /^[1-6]$/]]) {
      const property = page.locator(`#result td[data-name=${name}]`).first();
      await property.waitFor();
      assert.match(await property.textContent(), pattern);
      const box = await property.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 380 && box.width > 100, `${name} at ${JSON.stringify(box)}`);
      const shown = await property.evaluate((one) => getComputedStyle(one, "::before").content);
      assert.equal(shown, `"${name}"`, "the name stands beside the value");
    }
    await page.context().close();
  },

  async "a foreign page reads nothing"() {
    const context = await browser.newContext();
    const page = await context.newPage();
    const rebound = new URL(page_url);
    rebound.hostname = "rebound.example";
    assert.equal((await page.goto(rebound.href)).status(), 403, "a name of others that leads here");
    const foreign = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<!doctype html><title>x</title>"));
    await new Promise((ready) => foreign.listen(0, "127.0.0.1", ready));
    try {
      await page.goto(`http://127.0.0.1:${foreign.address().port}/`);
      const read = await page.evaluate(async (api) => {
        const tried = {};
        for (const mode of ["cors", "no-cors"]) {
          tried[mode] = await fetch(api, { mode }).then(async (answer) => answer.type === "opaque" || (await answer.text()), () => "refused");
        }
        return tried;
      }, new URL("api/tables", page_url).href);
      assert.equal(read.cors, "refused");
      assert.equal(read["no-cors"], "refused");  // by its resource policy
    } finally {
      foreign.close();
    }
  },

  async "a server that is gone is told"() {
    const page = await open();
    await page.route("**/api/status", (route) => route.abort());
    await page.waitForFunction(() => document.getElementById("health").textContent === "gone");
    await page.unroute("**/api/status");
    await page.waitForFunction(() => document.getElementById("health").textContent === "healthy");
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes("ERR_FAILED")));
  },
};

/// Pairs of texts of which one lies over the other.
function overlaps() {
  const leaves = [...document.querySelectorAll("h1, h2, dt, dd, .pill, .facts, svg text, th, td, button, label")].filter(
    (one) => one.checkVisibility() && one.textContent.trim() !== "" && one.querySelector("dt, dd, button, label, td") === null,
  );
  const boxes = leaves.map((one) => {
    const box = one.getBoundingClientRect();
    const frame = one.closest(".scroll, .pick td, nav")?.getBoundingClientRect() ?? { left: 0, right: Infinity };
    return { name: one.textContent.slice(0, 40), left: Math.max(box.left, frame.left), right: Math.min(box.right, frame.right), top: box.top, bottom: box.bottom };
  });
  const found = [];
  boxes.forEach((a, i) =>
    boxes.slice(i + 1).forEach((b) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 2) found.push(`${a.name} | ${b.name}`);
    }),
  );
  return found;
}

async function takePicture() {
  const page = await open({ viewport: { width: 1280, height: 900 }, deviceScaleFactor: 1.5 });
  const stop = keepBusy();
  await page.click("#tables button:text-is('Orders')");
  await page.fill("#filter", "PartitionKey eq 'eu' and RowKey lt '000014' and Lines ge 3");
  await page.press("#filter", "Enter");
  await page.locator("#filter").blur();
  await page.waitForFunction(() => Number(document.body.dataset.answers) >= 60, null, { timeout: 120_000 });
  await page.screenshot({ path: screenshot, fullPage: true });
  await stop();
}

try {
  await send("POST", "Tables", { TableName: "Empty" });
  await send("POST", "Tables", { TableName: "Notes" });
  await send("POST", "Tables", { TableName: "Visits" });
  assert.equal(await send("POST", "Notes", { PartitionKey: kMarkup, RowKey: "1", Text: kMarkup }), 201);
  for (const [name, step] of Object.entries(steps)) {
    await step();
    assert.deepEqual(complaints, [], name);
    console.log(`ok  ${name}`);
  }
  if (screenshot) await takePicture();
} finally {
  await browser.close();
}
