// Goal: clients of a store on Ceph lose nothing that was acknowledged, and read nothing stale, while its servers die.
// Method: two servers of one store are started again and again; one serves, the other waits. Clients of the JavaScript
//   library write and read through the one that answers, each in a partition that it alone writes. The serving one is
//   killed by SIGKILL. Each third time it is frozen instead, and goes on when its successor serves: what it then answers
//   must not be older than a write that its successor acknowledged.
// Usage: node failover.mjs PROGRAM ADDRESS [--seconds N] [--clients N] [--kill-every SECONDS] [--seed N]
//   ADDRESS is rados:POOL/NAME. CEPH_CONF and CEPH_ARGS lead to the cluster.
//   Exit codes: 0 nothing lost, nothing stale, and each takeover in 5 seconds; 1 a finding, told with the seed; 2 the
//   command line. What this program itself was late meanwhile, for want of a processor, is allowed beyond the 5 seconds.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";
import { LedgerClient } from "./ledger_client.mjs";

const { values: chosen, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    clients: { type: "string", default: "8" },
    "kill-every": { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
  },
});
if (positionals.length !== 2) {
  console.error("usage: node failover.mjs PROGRAM ADDRESS [--seconds N] [--clients N] [--kill-every SECONDS] [--seed N]");
  process.exit(2);
}
const [program, address] = positionals;
const seed = Number(chosen.seed);
const account = "devstoreaccount1";
const name = "Failover";
// The public key of the development account.
const key = new AzureNamedKeyCredential(account, "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==");
// Without retries: a write that was repeated by the library would not be known as one that was under way.
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const successorWithin = 60_000;  // After that, nothing more is waited for.
const takeoverMax = 5_000;

/// The time by which timers of this program were late, in all. A program that the machine keeps waiting is no slower.
let late = 0;
const nap = 20;
let due = Date.now() + nap;
setInterval(() => {
  const now = Date.now();
  late += Math.max(0, now - due);
  due = now + nap;
}, nap).unref();

/// Counts of all clients, and the longest time without an acknowledged write.
class Total {
  batches = 0; reads = 0; queries = 0; inDoubt = 0; kept = 0; checked = 0; refusals = 0;
  longestGap = 0; gap = 0;
  #writes = 0;
  #last = Date.now();

  get writes() { return this.#writes; }
  set writes(count) {
    const now = Date.now();
    this.gap = Math.max(this.gap, now - this.#last);
    this.longestGap = Math.max(this.longestGap, this.gap);
    this.#last = now;
    this.#writes = count;
  }
}
const total = new Total();
let over = false;

/// A place for a server, which is started again whenever it has ended, as a service manager would do it.
class Place {
  serves = false;
  #process;

  constructor(port) {
    this.host = `127.0.0.1:${port}`;
    this.url = `http://${this.host}/${account}`;
  }

  async run() {
    while (!over) {
      this.#process = spawn(program, ["serve", "--data", address, "--listen", this.host, "--status-page", "off"],
                            { stdio: ["ignore", "pipe", "ignore"] });
      const ended = once(this.#process, "exit");
      createInterface({ input: this.#process.stdout }).on("line", (line) => {
        if (line.startsWith("varve: serving rados:")) this.serves = true;  // It waited for the store until now.
      });
      await ended;
      this.serves = false;
      await pause(300);
    }
  }

  signal(signal) {
    this.#process?.kill(signal);
  }
}

/// Whether the server may have died under a request, or had no answer for now. Anything else is a finding.
function isTransient(error) {
  return !(error instanceof assert.AssertionError) && (error.statusCode === undefined ? error.name === "RestError" : error.statusCode >= 500);
}

/// Returns the first of the places that serves.
async function serving(places) {
  for (const end = Date.now() + successorWithin; Date.now() < end; await pause(20)) {
    const place = places.find((other) => other.serves);
    if (place) return place;
  }
  throw new Error(`no server took the store over in ${successorWithin / 1000} s`);
}

/// Writes and reads until the end. When a server fails, the client finds the other one, which must have all of its writes.
async function work(client, places) {
  while (!over) {
    try {
      await client.step();
    } catch (error) {
      if (!isTransient(error)) throw error;
      ++total.refusals;
      await recover(client, places);
    }
  }
  await recover(client, places);
}

async function recover(client, places) {
  for (const end = Date.now() + successorWithin; Date.now() < end; await pause(50)) {
    for (const place of places) {
      client.use(place.url);
      try {
        await client.check();
        return;
      } catch (error) {
        if (!isTransient(error)) throw error;
      }
    }
  }
  throw new Error(`${client.partition} found no server in ${successorWithin / 1000} s`);
}

/// Freezes the owner until it has a successor. Afterwards its answers may not be older than the successor's. Returns when the
/// successor had the store.
async function freeze(owner, places, number) {
  const marker = { partitionKey: "marker", rowKey: "0" };
  const former = new TableClient(owner.url, name, key, options);
  owner.signal("SIGSTOP");
  owner.serves = false;
  const successor = await serving(places.filter((other) => other !== owner));
  const taken = Date.now();
  await new TableClient(successor.url, name, key, options).upsertEntity({ ...marker, n: number }, "Replace");
  owner.signal("SIGCONT");
  for (const end = Date.now() + 1000; Date.now() < end; await pause(5)) {
    try {
      const { n } = await former.getEntity("marker", "0");
      assert.equal(n, number, "a former owner answered with something older");
    } catch (error) {
      // It may not know of the marker only if it is no owner, and then it may not answer.
      if (!isTransient(error)) throw error;
    }
  }
  owner.signal("SIGKILL");
  return taken;
}

async function freePort() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  listener.close();
  await once(listener, "close");
  return port;
}

async function main(places) {
  console.log(`seed ${seed}, ${chosen.clients} clients, ${chosen.seconds} s, a fault every ${chosen["kill-every"]} s`);
  for (const place of places) place.ended = place.run();
  await new TableServiceClient((await serving(places)).url, key, options).createTable(name);
  const clients = Array.from({ length: Number(chosen.clients) }, (_, number) =>
    new LedgerClient(number, places[0].url, { name, key, options, seed, total, rowsMax: 300, textPool: "x".repeat(2000), textMax: 2000 }));
  for (const client of clients) await recover(client, places);
  const working = Promise.all(clients.map((client) => work(client, places)));
  let failure;
  working.catch((error) => { failure = error; });
  const begun = Date.now();
  const faults = { kill: 0, freeze: 0 };
  for (let number = 1; !failure; ++number) {
    for (const next = Date.now() + Number(chosen["kill-every"]) * 1000; Date.now() < next && !failure; ) await pause(100);
    if (failure || Date.now() - begun >= Number(chosen.seconds) * 1000) break;
    const owner = await serving(places);
    total.gap = 0;
    const kind = number % 3 === 0 ? "freeze" : "kill";
    const before = Date.now();
    const lateBefore = late;
    let end;
    if (kind === "freeze") end = await freeze(owner, places, number);
    else owner.signal("SIGKILL");
    owner.serves = false;
    ++faults[kind];
    const successor = await serving(places.filter((other) => other !== owner || kind === "kill"));
    const taken = (end ?? Date.now()) - before;
    const lateMeanwhile = late - lateBefore;
    const writes = total.writes;
    while (total.writes === writes && !failure) await pause(10);
    console.log(`${((Date.now() - begun) / 1000).toFixed(0)} s: ${kind}; ${successor.host} has the store after ${taken} ms; ` +
                `${total.gap} ms without an acknowledged write; ${total.writes} writes, ${total.inDoubt} were in doubt`);
    assert.ok(taken - lateMeanwhile <= takeoverMax,
              `a takeover lasted ${taken} ms, of which this program was late ${lateMeanwhile} ms`);
  }
  over = true;
  await working;
  console.log(`seed ${seed}: ${faults.kill} kills and ${faults.freeze} freezes of the serving server; ${total.writes} acknowledged writes ` +
              `(${total.batches} batches), ${total.reads} reads and ${total.queries} queries by ${clients.length} clients; of ` +
              `${total.inDoubt} writes in doubt ${total.kept} were kept and ${total.inDoubt - total.kept} not; ${total.checked} entities checked; ` +
              `lost 0, stale 0; longest gap ${total.longestGap} ms`);
}

const places = [new Place(await freePort()), new Place(await freePort())];
try {
  await main(places);
} catch (error) {
  console.error(`finding, seed ${seed}: ${error.stack ?? error}`);
  process.exitCode = 1;
}
over = true;
for (const place of places) {
  place.signal("SIGCONT");
  place.signal("SIGTERM");
}
await Promise.race([Promise.all(places.map((place) => place.ended)), pause(30_000)]);
for (const place of places) place.signal("SIGKILL");
process.exit();
