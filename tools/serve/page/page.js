// Owns: the live part of the status page: it asks once a second, and shows rates between two answers.
// Must never: keep more than two minutes, or show an old figure as a new one when the server is gone.
import { startExplorer } from "/_varve/explorer.js";
import { age, bytes, cell, drawChart, drawLevels, duration, element, numberCell, quantile, rate, short, whole } from "/_varve/picture.js";

const kSeconds = 120;
const kPause = 1000;
const by = (id) => document.getElementById(id);

const rates = [];
const medians = [];
const tails = [];
let before = null;
let hasExplorer = null;

function keep(row, value) {
  row.push(value);
  if (row.length > kSeconds) row.shift();
}

/// What happened between two answers; all of it where there is one alone, as after a restart.
function difference(now, then) {
  const old = new Map((then?.operations ?? []).map((operation) => [operation.name, operation]));
  const seconds = then ? Math.max(0.05, now.uptime_seconds - then.uptime_seconds) : Math.max(1, now.uptime_seconds);
  const latencies = now.latency_bounds.map(() => 0).concat([0]);
  let requests = 0;
  let failures = 0;
  const rateOf = new Map();
  for (const operation of now.operations) {
    const was = old.get(operation.name);
    const made = operation.requests - (was?.requests ?? 0);
    requests += made;
    failures += operation.failures - (was?.failures ?? 0);
    rateOf.set(operation.name, made / seconds);
    operation.latencies.forEach((count, i) => (latencies[i] += count - (was?.latencies[i] ?? 0)));
  }
  return { requests: requests / seconds, failures: failures / seconds, latencies, rateOf };
}

function showHealth(health) {
  by("health").className = `pill ${health.accepts_writes ? "good" : "bad"}`;
  by("health").textContent = health.state;
  by("trouble").hidden = health.accepts_writes;
  if (!health.accepts_writes) by("trouble").textContent = `No writes: ${health.reason}.`;
}

function tile(name, value, unit = "") {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value, " ", element("small", {}, unit)));
}

function timeTile(name, seconds) {
  const [value, unit = ""] = duration(seconds).split(" ");
  return tile(name, value, unit);
}

function showTiles(now, change) {
  const store = now.store;
  const reads = store ? store.cache_hits + store.cache_misses : 0;
  by("tiles").replaceChildren(
    tile("Requests", rate(change.requests), "a second"),
    tile("Failed", rate(change.failures), "a second"),
    timeTile("Half are below", quantile(change.latencies, now.latency_bounds, 0.5)),
    timeTile("99 of 100 are below", quantile(change.latencies, now.latency_bounds, 0.99)),
    tile("Connections", whole(now.connections_open), "open"),
    tile("Found in the cache", reads > 0 ? ((100 * store.cache_hits) / reads).toFixed(1) : "–", reads > 0 ? "%" : ""),
  );
}

function showOperations(now, change) {
  const operations = [...now.operations].sort((a, b) => b.requests - a.requests);
  const rows = operations.map((operation) =>
    element(
      "tr",
      {},
      cell(operation.name),
      numberCell(whole(operation.requests)),
      numberCell(rate(change.rateOf.get(operation.name) ?? 0)),
      numberCell(whole(operation.failures), operation.failures > 0 ? "failed" : ""),
      numberCell(duration(operation.nanoseconds / 1e9 / operation.requests)),
      numberCell(duration(quantile(operation.latencies, now.latency_bounds, 0.5))),
      numberCell(duration(quantile(operation.latencies, now.latency_bounds, 0.99))),
      numberCell(bytes(operation.bytes_in)),
      numberCell(bytes(operation.bytes_out)),
    ),
  );
  if (rows.length === 0) {
    rows.push(element("tr", {}, element("td", { colSpan: 9, className: "empty" }, "No requests yet.")));
  }
  by("operations").replaceChildren(...rows);
}

function showLevels(store) {
  drawLevels(by("levels-picture"), store);
  const rows = [
    element(
      "tr",
      {},
      cell("Memory"),
      numberCell("–"),
      numberCell(whole(store.memtable_entries)),
      numberCell("–"),
      numberCell(`${bytes(store.memtable_bytes)} of ${bytes(store.memtable_bytes_max)}`),
    ),
  ];
  store.levels.forEach((level, i) => {
    if (level.files === 0) return;
    rows.push(
      element(
        "tr",
        {},
        cell(`Level ${i}`),
        numberCell(whole(level.files)),
        numberCell(whole(level.entries)),
        numberCell(whole(level.deletions)),
        numberCell(bytes(level.bytes)),
      ),
    );
  });
  if (rows.length === 1) {
    rows.push(element("tr", {}, element("td", { colSpan: 5, className: "empty" }, "No table files yet: everything is in memory and in the log.")));
  }
  by("levels").replaceChildren(...rows);
}

function showStore(store) {
  const facts = [
    ["Commits", whole(store.commits)],
    ["Refused commits", whole(store.commits_refused)],
    ["Log written", bytes(store.log_bytes)],
    ["Log to recover", bytes(store.live_log_bytes)],
    ["Value files", `${whole(store.value_files)}, ${bytes(store.value_file_bytes)}, ${bytes(store.value_file_live_bytes)} in use`],
    ["Commits a log write", store.log_writes > 0 ? (store.commits / store.log_writes).toFixed(1) : "–"],
    ["Flushes", `${whole(store.flushes)}, ${bytes(store.flushed_bytes)}`],
    ["Compactions", `${whole(store.compactions)}, ${bytes(store.compaction_written_bytes)}`],
    ["Compaction debt", bytes(store.compaction_debt_bytes)],
    ["Of dropped tables", bytes(store.dead_log_bytes + store.dead_table_bytes + store.dead_value_bytes)],
    ["Ballast for a full disk", bytes(store.ballast_bytes)],
    ["Clock ahead", store.clock_ahead > 0 ? duration(store.clock_ahead) : "no"],
    ["Cache", `${bytes(store.cache_bytes)} of ${bytes(store.cache_bytes_max)}`],
    ["Blocks read", `${short(store.block_reads)}, ${bytes(store.block_read_bytes)}`],
    ["Writes waited", duration(store.write_wait_nanoseconds / 1e9)],
    ["Dropped, not yet gone", whole(store.retired_ids)],
  ];
  by("store").replaceChildren(
    ...facts.map(([name, value]) => element("div", {}, element("dt", { title: name }, name), element("dd", {}, value))),
  );
}

function showCharts() {
  drawChart(by("rate-chart"), [{ values: rates, className: "", isFilled: true }], kSeconds, 10, rate);
  const lines = [
    { values: tails, className: "tail" },
    { values: medians, className: "" },
  ];
  drawChart(by("latency-chart"), lines, kSeconds, 1e-4, duration);
}

function show(now) {
  const isNewServer = before !== null && now.uptime_seconds < before.uptime_seconds;
  const change = difference(now, isNewServer ? null : before);
  if (before !== null) {
    keep(rates, change.requests);
    keep(medians, quantile(change.latencies, now.latency_bounds, 0.5));
    keep(tails, quantile(change.latencies, now.latency_bounds, 0.99));
    showCharts();
  } else {
    drawChart(by("rate-chart"), [{ values: [0], className: "" }], kSeconds, 10, rate);
    drawChart(by("latency-chart"), [{ values: [null], className: "" }], kSeconds, 1e-4, duration);
  }
  before = now;
  showHealth(now.health);
  showTiles(now, change);
  showOperations(now, change);
  if (now.store) {
    showLevels(now.store);
    showStore(now.store);
    const durable = now.store.durability === "sync" ? "writes are durable at once" : "writes are buffered";
    by("facts").textContent = `up ${age(now.uptime_seconds)} · ${now.store.back_end} · ${durable}`;
  }
  if (hasExplorer === null) {
    hasExplorer = now.has_explorer;
    by("no-explorer").hidden = hasExplorer;
    by("explorer-body").hidden = !hasExplorer;
    if (hasExplorer) startExplorer();
  }
  document.body.dataset.answers = String(Number(document.body.dataset.answers ?? 0) + 1);
}

function showGone() {
  by("health").className = "pill bad";
  by("health").textContent = "gone";
  by("trouble").hidden = false;
  by("trouble").textContent = "The server does not answer. The page shows the last figures and continues when the server answers again.";
}

async function ask() {
  try {
    const answer = await fetch("/_varve/api/status", { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    show(await answer.json());
  } catch {
    showGone();
  }
  setTimeout(ask, kPause);
}

ask();
