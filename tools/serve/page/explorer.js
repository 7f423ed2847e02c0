// Owns: the look into tables: their list, a filter, pages of entities, and the plan by which these were found.
// Must never: change anything, or ask again for a page that nobody looks at.
import { bytes, cell, duration, element, numberCell, short, whole } from "/_varve/picture.js";

const by = (id) => document.getElementById(id);
const kPageSize = 20;
const kColumnsMax = 30;

let account = "";
let table = "";
/// The tokens of the pages before this one; the first one is empty.
let tokens = [""];
/// Of the newest question; answers to older ones come too late.
let asked = 0;

async function get(name, parameters) {
  const answer = await fetch(`/_varve/api/${name}?${new URLSearchParams(parameters)}`, { cache: "no-store" });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.message);
  return body;
}

// -- Tables ------------------------------------------------------------------------------------------------------

async function measure(name, entities, size) {
  try {
    const measured = await get("table", { account, table: name });
    const least = measured.complete ? "" : "≥ ";
    entities.textContent = least + short(measured.entities);
    size.textContent = least + bytes(measured.bytes);
  } catch {
    entities.textContent = "–";
  }
}

function tableRow(name) {
  const button = element("button", { type: "button", title: name }, name);
  const entities = numberCell("…");
  const size = numberCell("");
  const row = element("tr", {}, element("td", {}, button), entities, size);
  row.dataset.table = name;
  button.addEventListener("click", () => choose(name));
  return { row, measured: () => measure(name, entities, size) };
}

async function listTables(continuation) {
  const of = account;
  const page = await get("tables", { account, continuation });
  if (of !== account) return;
  account = page.account;
  showAccounts(page.accounts);
  const rows = page.tables.map(tableRow);
  if (continuation === "") by("tables").replaceChildren();
  by("tables").append(...rows.map(({ row }) => row));
  by("no-tables").hidden = by("tables").children.length > 0;
  by("more-tables").hidden = page.continuation === null;
  by("more-tables").onclick = () => listTables(page.continuation);
  if (table === "" && page.tables.length > 0) choose(page.tables[0]);
  for (const { measured } of rows) await measured();  // one after the other: the server has other work
}

function showAccounts(accounts) {
  const select = by("accounts");
  select.hidden = accounts.length < 2;
  if (select.options.length === accounts.length) return;
  select.replaceChildren(...accounts.map((name) => element("option", { value: name }, name)));
  select.value = account;
}

function changeAccount() {
  account = by("accounts").value;
  table = "";
  by("pager").hidden = true;
  by("plan").hidden = true;
  by("result").replaceChildren(element("p", { className: "empty" }, "Choose a table."));
  listTables("");
}

function choose(name) {
  table = name;
  tokens = [""];
  by("filter").value = "";
  for (const row of by("tables").children) row.classList.toggle("chosen", row.dataset.table === name);
  showPage();
}

// -- Entities ----------------------------------------------------------------------------------------------------

const kFirst = ["PartitionKey", "RowKey", "Timestamp"];

function isNote(name) {
  return name.includes("@odata.") || name.startsWith("odata.");
}

/// Keys and Timestamp, then whatever the entities have, in the order in which it is met.
function columnsOf(entities) {
  const names = new Set(kFirst);
  for (const entity of entities) {
    for (const name of Object.keys(entity)) if (!isNote(name)) names.add(name);
  }
  return [...names];
}

/// To the second; its cell has all of it as a hint.
function timeCell(text) {
  return element("td", { className: "number", title: text }, text.slice(0, 19).replace("T", " "));
}

function valueCell(entity, name) {
  if (!(name in entity)) return cell("", "absent");
  const value = entity[name];
  const text = String(value);
  if (name === "Timestamp") return timeCell(text);
  const isNumber = typeof value === "number" || entity[`${name}@odata.type`] === "Edm.Int64";
  if (isNumber) return numberCell(text);
  return cell(text, kFirst.indexOf(name) === 0 || kFirst.indexOf(name) === 1 ? "key" : "");
}

/// On a narrow screen the style shows the name beside the value.
function namedCell(entity, name) {
  const made = valueCell(entity, name);
  made.dataset.name = name;
  return made;
}

function resultTable(entities) {
  const all = columnsOf(entities);
  const columns = all.slice(0, kColumnsMax);
  const head = element("tr", {}, ...columns.map((name) => element("th", { title: name }, name)));
  const rows = entities.map((entity) => element("tr", {}, ...columns.map((name) => namedCell(entity, name))));
  const made = [element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))];
  if (all.length > columns.length) {
    made.push(element("p", { className: "note" }, `${whole(all.length - columns.length)} more properties are not shown.`));
  }
  return made;
}

function showPlan(page) {
  const { plan, cost } = page;
  const ranges = plan.ranges.slice(0, 3).join("; ") + (plan.range_count > 3 ? `; and ${whole(plan.range_count - 3)} more` : "");
  const lines = [element("div", { title: plan.ranges.join("\n") }, element("b", {}, plan.path), ranges === "" ? "" : ` – ${ranges}`)];
  if (plan.residual !== "") lines.push(element("div", { title: plan.residual }, "judged of each: ", element("code", {}, plan.residual)));
  const blocks = `${whole(cost.blocks_read)} blocks read, ${whole(cost.blocks_from_cache)} from the cache, ${whole(cost.blocks_skipped)} passed`;
  const shown = `${whole(page.value.length)} shown of ${whole(cost.examined)} looked at`;
  lines.push(element("div", { className: "cost" }, `${shown} · ${blocks} · ${duration(page.milliseconds / 1000)}`));
  by("plan").replaceChildren(...lines);
  by("plan").hidden = false;
}

function showPager(page) {
  const number = tokens.length;
  by("pager").hidden = number === 1 && page.continuation === null;
  by("place").textContent = `Page ${whole(number)}`;
  by("previous").disabled = number === 1;
  by("next").disabled = page.continuation === null;
  by("previous").onclick = () => {
    tokens.pop();
    showPage();
  };
  by("next").onclick = () => {
    tokens.push(page.continuation);
    showPage();
  };
}

async function showPage() {
  const question = ++asked;
  const parameters = { account, table, filter: by("filter").value, continuation: tokens[tokens.length - 1], top: String(kPageSize) };
  if (by("backward").checked) parameters.backward = "1";
  try {
    const page = await get("entities", parameters);
    if (question !== asked) return;
    by("query-error").hidden = true;
    showPlan(page);
    showPager(page);
    const empty = page.continuation === null ? "No entities." : "No entities on this page; later pages may have some.";
    by("result").replaceChildren(...(page.value.length > 0 ? resultTable(page.value) : [element("p", { className: "empty" }, empty)]));
  } catch (error) {
    if (question !== asked) return;
    by("query-error").textContent = error.message;
    by("query-error").hidden = false;
    by("plan").hidden = true;
    by("pager").hidden = true;
    by("result").replaceChildren();
  }
}

export function startExplorer() {
  by("accounts").addEventListener("change", changeAccount);
  by("query").addEventListener("submit", (event) => {
    event.preventDefault();
    if (table === "") return;
    tokens = [""];
    showPage();
  });
  listTables("");
}
