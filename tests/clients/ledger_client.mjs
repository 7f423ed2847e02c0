// Goal: a client of the endurance and failover runs that works on one partition alone, and knows what it must hold.
// Method: what was acknowledged, and the one write without an answer. Each read and query is compared with that.
import assert from "node:assert/strict";
import { odata, TableClient, TableTransaction } from "@azure/data-tables";

/// Random numbers by a seed (the generator "mulberry32", public domain).
export function randomOf(start) {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296 * below) | 0;
  };
}

/// One client, its partition, and what it must hold.
export class LedgerClient {
  #random;
  #table;
  #make;
  #total;
  #rowsMax;
  #textPool;
  #textMax;
  #rows = new Map();  // row key -> properties and ETag, as acknowledged
  #doubt = null;      // what the rows would be with the write that was not answered
  #next = 0;

  /// `total` has the counts, which all clients share.
  constructor(number, url, { name, key, options, seed, total, rowsMax, textPool, textMax }) {
    this.partition = `client-${String(number).padStart(3, "0")}`;
    this.#random = randomOf(seed * 1000 + number);
    this.#make = (place) => new TableClient(place, name, key, options);
    this.#total = total;
    this.#rowsMax = rowsMax;
    this.#textPool = textPool;
    this.#textMax = textMax;
    this.use(url);
  }

  /// Goes on with the server at this place.
  use(url) {
    this.#table = this.#make(url);
  }

  /// Until the server is gone.
  async run(life) {
    while (!life.over) {
      try {
        await this.step();
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
      ++this.#total.inDoubt;
      if (before.length !== 0) ++this.#total.kept;
    }
    this.#total.checked += found.size;
    this.#rows = found;
    this.#doubt = null;
  }

  /// Reads or writes once. An error of a write leaves it in doubt until check().
  async step() {
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
    const length = this.#random(this.#textMax);
    const begin = this.#random(this.#textPool.length - length);
    return { n: this.#random(1_000_000), text: this.#textPool.slice(begin, begin + length) };
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
    ++this.#total.writes;
  }

  async #insert() {
    if (this.#rows.size >= this.#rowsMax) return this.#remove(this.#someRow());
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
    const removed = this.#rows.size > this.#rowsMax / 2 ? [...this.#rows.keys()].slice(0, 20) : [];
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
    ++this.#total.batches;
  }

  async #read() {
    const row = this.#someRow();
    if (!row) return;
    const entity = await this.#table.getEntity(this.partition, row);
    const known = this.#rows.get(row);
    assert.deepEqual([entity.n, entity.text, entity.extra, entity.etag], [known.n, known.text, known.extra, known.etag]);
    ++this.#total.reads;
  }

  async #query() {
    const below = this.#random(1_000_000);
    const filter = odata`PartitionKey eq ${this.partition} and n lt ${below}`;
    const found = [];
    for await (const entity of this.#table.listEntities({ queryOptions: { filter, select: ["RowKey"] } })) found.push(entity.rowKey);
    const known = [...this.#rows].filter(([, values]) => values.n < below).map(([row]) => row).sort();
    assert.deepEqual(found, known);
    ++this.#total.queries;
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
