// Goal: what the server acknowledged to real clients is there after it was killed, for as long as one likes to look.
// Method: clients of the JavaScript library write, read and query side by side, each in a partition of its own, whose
//   content it therefore knows; SIGKILL ends the server at a random moment, and after its next start each partition must
//   be what was acknowledged, with or without the one write that was under way, and never with half of a batch. A quarter
//   as many workers do the same with queues (queue_worker.mjs).
// Usage: node endurance.mjs PROGRAM DIRECTORY [--minutes N] [--clients N] [--kill-every SECONDS] [--seed N]
//                           [--memory MIB]
//   With --memory the server has this limit as an option and as that of its control group. Texts are then up to 30,000
//   characters, so that the store is several times as large.
//   Exit codes: 0 nothing lost; 1 a finding, told with the seed; 2 the command line.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { randomBytes } from "node:crypto";
import { AzureNamedKeyCredential, odata, TableClient, TableServiceClient, TableTransaction } from "@azure/data-tables";
import { MemoryGroup } from "./memory_group.mjs";
import { QueueWorker } from "./queue_worker.mjs";

const { values: chosen, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "60" },
    clients: { type: "string", default: "16" },
    "kill-every": { type: "string", default: "20" },
    memory: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
  },
});
if (positionals.length !== 2) {
  console.error("usage: node endurance.mjs PROGRAM DIRECTORY [--minutes N] [--clients N] [--kill-every SECONDS] [--seed N] [--memory MIB]");
  process.exit(2);
}
const [program, directory] = positionals;
const minutes = Number(chosen.minutes);
const clientCount = Number(chosen.clients);
const killEvery = Number(chosen["kill-every"]) * 1000;
const seed = Number(chosen.seed);
const account = "devstoreaccount1";
// The public key of the development account.
const keyText = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const key = new AzureNamedKeyCredential(account, keyText);
// Without retries: a write that was repeated by the library would not be known as one that was under way.
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const memory = chosen.memory === undefined ? undefined : Number(chosen.memory) * 1024 * 1024;
const rowsMax = memory ? 2000 : 300;
const textMax = memory ? 30_000 : 2000;
// The store's own budgets (a write buffer and a cache of 256 MiB each), and what a process needs beside them.
const residentMax = memory ?? (256 + 256 + 256) * 1024 * 1024;
const textPool = memory ? randomBytes(3 * 1024 * 1024).toString("base64") : "x".repeat(textMax);  // the first does not compress
const group = memory ? await MemoryGroup.make(memory) : undefined;

/// Random numbers by a seed (the generator "mulberry32", public domain).
function randomOf(start) {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296 * below) | 0;
  };
}

const total = { writes: 0, batches: 0, reads: 0, queries: 0, inDoubt: 0, kept: 0, kills: 0, checked: 0, messages: 0, messagesChecked: 0, residentMax: 0 };

class Server {
  #process;
  url;
  queuesUrl;

  /// On the ports it had before, so that clients need not be told.
  async start() {
    const place = (url) => (url ? new URL(url).host : "127.0.0.1:0");
    const words = ["serve", "--data", directory, "--listen", place(this.url), "--listen-queues", place(this.queuesUrl),
                   "--status-page", "off"];
    const [command, all] = group ? group.wrap(program, [...words, "--memory", `${chosen.memory}MiB`]) : [program, words];
    this.#process = spawn(command, all, { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    const ended = once(this.#process, "exit").then(([code]) => { throw new Error(`the server did not start: exit code ${code}`); });
    ended.catch(() => {});  // of use until the server has started
    const placeOf = async () => (await Promise.race([lines.next(), ended])).value.split(" ").at(-1);
    this.url = await placeOf();
    this.queuesUrl = await placeOf();
  }

  async end(signal) {
    if (!this.#process || this.#process.exitCode !== null || this.#process.signalCode !== null) return this.#process?.exitCode;
    const ended = once(this.#process, "exit");
    this.#process.kill(signal);
    const [code] = await ended;
    return code;
  }

  /// The most bytes of memory that were the process's.
  async resident() {
    const status = await readFile(`/proc/${this.#process.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)[1]) * 1024;
  }
}

/// One client, its partition, and what it must hold.
class Client {
  #random;
  #table;
  #rows = new Map();  // row key -> properties and ETag, as acknowledged
  #doubt = null;      // what the rows would be with the write that was not answered
  #next = 0;

  constructor(number, url) {
    this.partition = `client-${String(number).padStart(3, "0")}`;
    this.#random = randomOf(seed * 1000 + number);
    this.#table = new TableClient(url + account, "Endurance", key, options);
  }

  /// Until the server is gone.
  async run(life) {
    while (!life.over) {
      try {
        await this.#step();
      } catch (error) {
        if (life.over && error.statusCode === undefined) return;
        throw error;
      }
    }
  }

  /// What is there is what was acknowledged, or that with the one write in doubt; the client goes on from it.
  async check() {
    const found = new Map();
    const filter = odata`PartitionKey eq ${this.partition}`;
    for await (const page of this.#table.listEntities({ queryOptions: { filter } }).byPage({ maxPageSize: 100 })) {
      for (const entity of page) found.set(entity.rowKey, { n: entity.n, text: entity.text, extra: entity.extra, etag: entity.etag });
    }
    const before = differences(found, this.#rows);
    const after = this.#doubt && differences(found, this.#doubt);
    assert.ok(before.length === 0 || after?.length === 0,
              `${this.partition} is not what was acknowledged: ${before.slice(0, 5).join("; ")}` +
                (after ? `; nor that with the write under way: ${after.slice(0, 5).join("; ")}` : ""));
    if (this.#doubt) {
      ++total.inDoubt;
      if (before.length !== 0) ++total.kept;
    }
    total.checked += found.size;
    this.#rows = found;
    this.#doubt = null;
  }

  async #step() {
    const chance = this.#random(100);
    if (chance < 30) return this.#read();
    if (chance < 34) return this.#query();
    if (chance < 46) return this.#batch();
    const row = this.#someRow();
    if (!row) return this.#insert();
    if (chance < 62) return this.#insert();
    if (chance < 74) return this.#update(row, "Replace");
    if (chance < 86) return this.#update(row, "Merge");
    return this.#remove(row);
  }

  #someRow() {
    if (this.#rows.size === 0) return undefined;
    return [...this.#rows.keys()][this.#random(this.#rows.size)];
  }
  #values() {
    const length = this.#random(textMax);
    const begin = this.#random(textPool.length - length);
    return { n: this.#random(1_000_000), text: textPool.slice(begin, begin + length) };
  }
  #newRow() {
    return `${String(this.#random(1000)).padStart(3, "0")}-${this.#next++}`;
  }

  /// `change` makes the rows what they are after the write; the ETags come with the answer.
  async #write(change, send) {
    const rows = new Map(this.#rows);
    change(rows);
    this.#doubt = rows;
    const etags = await send();
    for (const [row, etag] of etags) rows.get(row).etag = etag;
    this.#rows = rows;
    this.#doubt = null;
    ++total.writes;
  }

  async #insert() {
    if (this.#rows.size >= rowsMax) return this.#remove(this.#someRow());
    const row = this.#newRow();
    const values = this.#values();
    await this.#write((rows) => rows.set(row, values), async () => {
      const { etag } = await this.#table.createEntity({ partitionKey: this.partition, rowKey: row, ...values });
      return [[row, etag]];
    });
  }

  async #update(row, mode) {
    const { etag, ...old } = this.#rows.get(row);
    const values = mode === "Merge" ? { extra: this.#random(1000) } : this.#values();
    await this.#write((rows) => rows.set(row, mode === "Merge" ? { ...old, ...values } : values), async () => {
      const entity = { partitionKey: this.partition, rowKey: row, ...values };
      const answer = await this.#table.updateEntity(entity, mode, { etag });
      return [[row, answer.etag]];
    });
  }

  async #remove(row) {
    const { etag } = this.#rows.get(row);
    await this.#write((rows) => rows.delete(row), async () => {
      await this.#table.deleteEntity(this.partition, row, { etag });
      return [];
    });
  }

  async #batch() {
    const transaction = new TableTransaction();
    const put = new Map();
    const removed = this.#rows.size > rowsMax / 2 ? [...this.#rows.keys()].slice(0, 20) : [];
    for (const row of removed) transaction.deleteEntity(this.partition, row);
    for (let count = 1 + this.#random(30); count > 0; --count) {
      const row = this.#newRow();
      put.set(row, this.#values());
      transaction.upsertEntity({ partitionKey: this.partition, rowKey: row, ...put.get(row) }, "Replace");
    }
    const change = (rows) => {
      for (const row of removed) rows.delete(row);
      for (const [row, values] of put) rows.set(row, { ...values });
    };
    await this.#write(change, async () => {
      const { subResponses } = await this.#table.submitTransaction(transaction.actions);
      return [...put.keys()].map((row, index) => [row, subResponses[removed.length + index].etag]);
    });
    ++total.batches;
  }

  async #read() {
    const row = this.#someRow();
    if (!row) return;
    const entity = await this.#table.getEntity(this.partition, row);
    const known = this.#rows.get(row);
    assert.deepEqual([entity.n, entity.text, entity.extra, entity.etag], [known.n, known.text, known.extra, known.etag]);
    ++total.reads;
  }

  async #query() {
    const below = this.#random(1_000_000);
    const filter = odata`PartitionKey eq ${this.partition} and n lt ${below}`;
    const found = [];
    for await (const entity of this.#table.listEntities({ queryOptions: { filter, select: ["RowKey"] } })) found.push(entity.rowKey);
    const known = [...this.#rows].filter(([, values]) => values.n < below).map(([row]) => row).sort();
    assert.deepEqual(found, known);
    ++total.queries;
  }
}

/// In words; ETags that are not known (of a write in doubt) are not compared.
function differences(found, expected) {
  const told = [];
  for (const [row, values] of expected) {
    const there = found.get(row);
    if (!there) told.push(`${row} is missing`);
    else if (there.n !== values.n || there.text !== values.text || there.extra !== values.extra) told.push(`${row} has other values`);
    else if (values.etag !== undefined && there.etag !== values.etag) told.push(`${row} has another ETag`);
  }
  for (const row of found.keys()) if (!expected.has(row)) told.push(`${row} should not be there`);
  return told;
}

/// From a start to a kill. The clients stop by themselves once it is over.
async function live(server, clients, duration) {
  const life = { over: false };
  const running = Promise.all(clients.map((client) => client.run(life)));
  running.catch(() => { life.over = true; });  // told below; the others need not go on
  await Promise.race([pause(duration), running.catch(() => {})]);
  if (life.over) await running;
  const resident = await server.resident();
  total.residentMax = Math.max(total.residentMax, resident);
  life.over = true;
  await server.end("SIGKILL");
  ++total.kills;
  await running;
  return resident;
}

const mebibytes = (bytes) => `${(bytes / 1_048_576).toFixed(0)} MiB`;

async function main(server) {
  console.log(`seed ${seed}, ${clientCount} clients, ${minutes} minutes, a kill about every ${killEvery / 1000} s`);
  const random = randomOf(seed);
  await server.start();
  await new TableServiceClient(server.url + account, key, options).createTable("Endurance");
  const workers = Array.from({ length: Math.ceil(clientCount / 4) }, (_, number) =>
    new QueueWorker(number, server.queuesUrl, account, keyText, randomOf(seed * 1000 + 500 + number), total));
  for (const worker of workers) await worker.begin();
  const clients = [...Array.from({ length: clientCount }, (_, number) => new Client(number, server.url)), ...workers];
  const begun = Date.now();
  while (Date.now() - begun < minutes * 60_000) {
    const resident = await live(server, clients, killEvery / 2 + random(killEvery));
    const restarted = Date.now();
    await server.start();
    const opened = Date.now() - restarted;
    await Promise.all(clients.map((client) => client.check()));
    const seconds = ((Date.now() - begun) / 1000).toFixed(0);
    console.log(`${seconds} s: ${total.writes} writes, ${total.reads} reads, ${total.queries} queries, ${total.messages} changes of messages; kill ${total.kills}, ` +
                `writes in doubt so far: ${total.inDoubt}, nothing lost; ${mebibytes(resident)} at the kill, open in ${opened} ms`);
  }
  assert.equal(await server.end("SIGTERM"), 0, "the server did not end well");
  assert.ok(total.residentMax <= residentMax, `the server grew to ${mebibytes(total.residentMax)}`);
  console.log(`${total.writes} writes (${total.batches} batches), ${total.reads} reads and ${total.queries} queries by ` +
              `${clientCount} clients; ${total.kills} kills; of ${total.inDoubt} writes under way ${total.kept} were kept and ` +
              `${total.inDoubt - total.kept} not; ${total.checked} entities checked; ` +
              `${total.messages} changes of messages by ${workers.length} workers, ${total.messagesChecked} messages checked; at most ${mebibytes(total.residentMax)}. Nothing was lost.`);
  if (!group) return;
  assert.equal(await group.kills(), 0, "the kernel killed the server because of its memory");
  console.log(`The control group of ${mebibytes(memory)} was charged ${mebibytes(await group.peak())} at most, with the page ` +
              "cache; the kernel killed nothing.");
}

const server = new Server();
try {
  await main(server);
} catch (error) {
  console.error(`finding, seed ${seed}: ${error.stack ?? error}`);
  await server.end("SIGKILL");
  process.exitCode = 1;
}
await group?.remove();
process.exit();
