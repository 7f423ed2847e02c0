// Owns: the look into tables, queues and containers: their lists, the indexes of a table and its rule of expiry, a filter
// and an order, pages of entities, the plan by which these were found, visible messages, and the names of blobs.
// Must never: change anything, or ask again for a page that nobody looks at.
import { bytes, cell, duration, element, numberCell, short, whole } from "/_varve/picture.js";

const by = (id) => document.getElementById(id);
const kPageSize = 20;
const kColumnsMax = 30;

let account = "";
/// The chosen table, queue or container; the names of the others are empty.
let table = "";
let queue = "";
let container = "";
/// The names of the chosen container's blobs begin with it. It is empty, or ends in a slash.
let directory = "";
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
  if (table === "" && queue === "" && container === "" && page.tables.length > 0) choose(page.tables[0]);
  if (continuation === "") {
    await listQueues("");
    await listContainers("");
  }
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
  chosen({});
  by("pager").hidden = true;
  by("result").replaceChildren(element("p", { className: "empty" }, "Choose a table, a queue or a container."));
  listTables("");
}

/// Chooses one of them. What belongs to the last choice is hidden.
function chosen(names) {
  table = names.table ?? "";
  queue = names.queue ?? "";
  container = names.container ?? "";
  tokens = [""];
  for (const row of by("tables").children) row.classList.toggle("chosen", row.dataset.table === table);
  for (const row of by("queues").children) row.classList.toggle("chosen", row.dataset.queue === queue);
  for (const row of by("containers").children) row.classList.toggle("chosen", row.dataset.container === container);
  by("query").hidden = queue !== "" || container !== "";
  by("design").hidden = true;
  by("plan").hidden = true;
  by("query-error").hidden = true;
}

function showError(error) {
  by("query-error").textContent = error.message;
  by("query-error").hidden = false;
  by("plan").hidden = true;
  by("pager").hidden = true;
  by("result").replaceChildren();
}

function choose(name) {
  by("filter").value = "";
  by("order").value = "";
  chosen({ table: name });
  showPage();
  showDesign(account, name);
}

/// An age as the largest unit that divides it.
function ageText(milliseconds) {
  const units = [[86_400_000, "day"], [3_600_000, "hour"], [60_000, "minute"], [1000, "second"]];
  const [size, unit] = units.find(([each]) => milliseconds % each === 0) ?? [1, "millisecond"];
  const count = milliseconds / size;
  return `${whole(count)} ${unit}${count === 1 ? "" : "s"}`;
}

function indexLine(index) {
  const carried = index.carried.length > 0 ? `, carries ${index.carried.join(", ")}` : "";
  const failure = index.failure !== "" ? `: ${index.failure}` : "";
  const text = ` on ${index.components.join(", ")}${carried} – ${index.state}${failure}`;
  const kind = index.unique ? "unique index " : "index ";
  return element("div", { title: kind + index.name + text }, kind, element("b", {}, index.name), text);
}

/// A table without indexes and without a rule shows nothing.
async function showDesign(of, name) {
  const isChosen = () => of === account && name === table;
  try {
    const { indexes, expiry } = await get("description", { account: of, table: name });
    if (!isChosen()) return;
    const lines = indexes.map(indexLine);
    if (expiry !== null) {
      const rule = expiry.property !== "" ? `at the value of ${expiry.property}` : `${ageText(expiry.age_ms)} after their Timestamp`;
      lines.push(element("div", {}, `entities end ${rule}`));
    }
    by("design").replaceChildren(...lines);
    by("design").hidden = lines.length === 0;
  } catch {  // The page of entities shows the failure.
    if (isChosen()) by("design").hidden = true;
  }
}

// -- Queues ------------------------------------------------------------------------------------------------------

function queueRow({ name, messages, text_bytes }) {
  const button = element("button", { type: "button", title: name }, name);
  const row = element("tr", {}, element("td", {}, button), numberCell(short(messages)), numberCell(bytes(text_bytes)));
  row.dataset.queue = name;
  button.addEventListener("click", () => chooseQueue(name));
  return row;
}

/// A store without queues shows no list of them.
async function listQueues(continuation) {
  const of = account;
  const page = await get("queues", { account, continuation });
  if (of !== account) return;
  if (continuation === "") by("queues").replaceChildren();
  by("queues").append(...page.queues.map(queueRow));
  by("queues-pick").hidden = by("queues").children.length === 0;
  by("more-queues").hidden = page.continuation === null;
  by("more-queues").onclick = () => listQueues(page.continuation);
}

function messageRow(message) {
  const named = (made, name) => {
    made.dataset.name = name;
    return made;
  };
  return element("tr", {},
    named(timeCell(message.inserted), "Inserted"), named(numberCell(whole(message.deliveries)), "Deliveries"),
    named(cell(message.is_cut ? `${message.text}…` : message.text), "Text"), named(cell(message.origin), "Origin"),
    named(cell(message.id, "key"), "Id"));
}

async function chooseQueue(name) {
  const question = ++asked;
  chosen({ queue: name });
  by("pager").hidden = true;
  try {
    const page = await get("messages", { account, queue: name });
    if (question !== asked) return;
    const heads = ["Inserted", "Deliveries", "Text", "Origin", "Id"].map((head) => element("th", {}, head));
    const shown = `${whole(page.messages.length)} visible of ${whole(page.count)} messages, ${bytes(page.text_bytes)} of text. Held and delayed messages are not shown.`;
    const rows = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...page.messages.map(messageRow)));
    by("result").replaceChildren(...(page.messages.length > 0 ? [rows] : []), element("p", { className: "note" }, shown));
  } catch (error) {
    if (question === asked) showError(error);
  }
}

// -- Containers --------------------------------------------------------------------------------------------------

const kReaders = { none: "none", blobs: "of blobs", container: "of blobs and the list" };

function containerRow({ name, modified, public_access }) {
  const button = element("button", { type: "button", title: name }, name);
  const row = element("tr", { title: `changed ${modified}` }, element("td", {}, button), cell(kReaders[public_access]));
  row.dataset.container = name;
  button.addEventListener("click", () => chooseContainer(name));
  return row;
}

/// A store without containers shows no list of them.
async function listContainers(continuation) {
  const of = account;
  const page = await get("containers", { account, continuation });
  if (of !== account) return;
  if (continuation === "") by("containers").replaceChildren();
  by("containers").append(...page.containers.map(containerRow));
  by("containers-pick").hidden = by("containers").children.length === 0;
  by("more-containers").hidden = page.continuation === null;
  by("more-containers").onclick = () => listContainers(page.continuation);
}

function chooseContainer(name) {
  directory = "";
  chosen({ container: name });
  showBlobs();
}

/// Shows the blobs below a common beginning of their names, as a directory.
function showDirectory(prefix) {
  directory = prefix;
  tokens = [""];
  showBlobs();
}

/// One button for the container, and one for each slash of the directory.
function pathLine() {
  const parts = [element("button", { type: "button" }, container)];
  parts[0].addEventListener("click", () => showDirectory(""));
  for (let end = directory.indexOf("/"); end >= 0; end = directory.indexOf("/", end + 1)) {
    const prefix = directory.slice(0, end + 1);
    const begin = directory.lastIndexOf("/", end - 1) + 1;
    const button = element("button", { type: "button", title: prefix }, directory.slice(begin, end + 1));
    button.addEventListener("click", () => showDirectory(prefix));
    parts.push(button);
  }
  return element("p", { className: "path" }, ...parts);
}

function directoryRow(prefix) {
  const button = element("button", { type: "button", title: prefix }, prefix.slice(directory.length));
  button.addEventListener("click", () => showDirectory(prefix));
  return element("tr", {}, element("td", {}, button), cell(""), cell(""), cell(""), cell(""));
}

function blobRow(blob) {
  const named = (made, name) => {
    made.dataset.name = name;
    return made;
  };
  return element("tr", {},
    named(cell(blob.name.slice(directory.length), "key"), "Name"), named(numberCell(bytes(blob.bytes)), "Bytes"),
    named(cell(blob.kind), "Kind"), named(timeCell(blob.modified), "Changed"), named(cell(blob.content_type), "Type"));
}

async function showBlobs() {
  const question = ++asked;
  try {
    const page = await get("blobs", { account, container, prefix: directory, continuation: tokens[tokens.length - 1] });
    if (question !== asked) return;
    const heads = ["Name", "Bytes", "Kind", "Changed", "Type"].map((head) => element("th", {}, head));
    const rows = [...page.directories.map(directoryRow), ...page.blobs.map(blobRow)];
    const list = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
    const shown = rows.length > 0 ? list : element("p", { className: "empty" }, "No blobs.");
    by("result").replaceChildren(pathLine(), shown);
    showPager(page, showBlobs);
  } catch (error) {
    if (question === asked) showError(error);
  }
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

/// Returns an index that could serve, with the number of entities to which it leads.
function candidateText({ name, entities, is_taken, answers_counts, answers_pages }) {
  const many = is_taken ? "many entities, read in parts" : "too many entries";
  const reach = entities === null ? many : `${whole(entities)} ${entities === 1 ? "entity" : "entities"}`;
  const alone = `${answers_counts ? ", answers counts alone" : ""}${answers_pages ? ", answers pages alone" : ""}`;
  return `${name}: ${reach}${is_taken ? ", taken" : ""}${alone}`;
}

function showPlan(page) {
  const { plan, cost } = page;
  const taken = plan.indexes.find((index) => index.is_taken)?.name ?? plan.order_index;
  const by_index = taken === null ? "" : `, by index ${taken}`;
  const ranges = plan.ranges.slice(0, 3).join("; ") + (plan.range_count > 3 ? `; and ${whole(plan.range_count - 3)} more` : "");
  const lines = [element("div", { title: plan.ranges.join("\n") }, element("b", {}, plan.path), by_index, ranges === "" ? "" : ` – ${ranges}`)];
  if (plan.indexes.length > 0) {
    const candidates = plan.indexes.map(candidateText).join("; ");
    lines.push(element("div", { title: candidates }, "indexes: ", candidates));
  }
  if (plan.order_index !== null) lines.push(element("div", {}, "order from index ", element("b", {}, plan.order_index)));
  if (plan.residual !== "") lines.push(element("div", { title: plan.residual }, "judged of each: ", element("code", {}, plan.residual)));
  const blocks = `${whole(cost.blocks_read)} blocks read, ${whole(cost.blocks_from_cache)} from the cache, ${whole(cost.blocks_skipped)} passed`;
  const shown = `${whole(page.value.length)} shown of ${whole(cost.examined)} looked at`;
  lines.push(element("div", { className: "cost" }, `${shown} · ${blocks} · ${duration(page.milliseconds / 1000)}`));
  by("plan").replaceChildren(...lines);
  by("plan").hidden = false;
}

/// `show` asks for the page of the last token.
function showPager(page, show) {
  const number = tokens.length;
  by("pager").hidden = number === 1 && page.continuation === null;
  by("place").textContent = `Page ${whole(number)}`;
  by("previous").disabled = number === 1;
  by("next").disabled = page.continuation === null;
  by("previous").onclick = () => {
    tokens.pop();
    show();
  };
  by("next").onclick = () => {
    tokens.push(page.continuation);
    show();
  };
}

async function showPage() {
  const question = ++asked;
  const parameters = { account, table, filter: by("filter").value, continuation: tokens[tokens.length - 1], top: String(kPageSize) };
  if (by("backward").checked) parameters.backward = "1";
  if (by("order").value.trim() !== "") parameters.order_by = by("order").value;
  try {
    const page = await get("entities", parameters);
    if (question !== asked) return;
    by("query-error").hidden = true;
    showPlan(page);
    showPager(page, showPage);
    const empty = page.continuation === null ? "No entities." : "No entities on this page; later pages may have some.";
    by("result").replaceChildren(...(page.value.length > 0 ? resultTable(page.value) : [element("p", { className: "empty" }, empty)]));
  } catch (error) {
    if (question === asked) showError(error);
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
