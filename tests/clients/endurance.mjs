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
import { AzureNamedKeyCredential, TableServiceClient } from "@azure/data-tables";
import { LedgerClient, randomOf } from "./ledger_client.mjs";
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
  const clients = [...Array.from({ length: clientCount }, (_, number) =>
    new LedgerClient(number, server.url + account, { name: "Endurance", key, options, seed, total, rowsMax, textPool, textMax })), ...workers];
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
