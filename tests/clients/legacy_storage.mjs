// Goal: the legacy JavaScript client library, azure-storage, as it is, finds here what it expects of tables and queues.
// Method: each of its verbs is used once and its answer judged; the first that differs ends it with 1.
// Usage: node legacy_storage.mjs http://127.0.0.1:PORT/ http://127.0.0.1:PORT/
import assert from "node:assert/strict";
import { promisify } from "node:util";
import storage from "azure-storage";

const account = "devstoreaccount1";
// The public key of the development account.
const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const url = process.argv[2] + account;
const service = storage.createTableService(account, key, url);
const { entityGenerator } = storage.TableUtilities;
const call = (verb, ...words) => promisify(service[verb].bind(service))(...words);
const refusedWith = (status, code) => (error) => {
  assert.equal(error.statusCode, status);
  assert.equal(error.code, code);
  return true;
};
const keyed = (row, more = {}) =>
  ({ PartitionKey: entityGenerator.String("eu"), RowKey: entityGenerator.String(row), ...more });
const etagOf = (entity) => entity[".metadata"].etag;
/// Of an ETag that another service gave.
const foreign = 'W/"0x5B168C7B6E589D2"';
const withEtag = (entity, etag) => ({ ...entity, ".metadata": { etag } });

async function tables() {
  await call("createTable", "Legacy");
  await assert.rejects(call("createTable", "Legacy"), refusedWith(409, "TableAlreadyExists"));
  assert.equal((await call("createTableIfNotExists", "Legacy")).created, false);
  await call("createTable", "Legacz");
  const all = await call("listTablesSegmentedWithPrefix", "Legac", null);
  assert.deepEqual(all.entries, ["Legacy", "Legacz"]);
  const first = await call("listTablesSegmentedWithPrefix", "Legac", null, { maxResults: 1 });
  assert.deepEqual(first.entries, ["Legacy"]);
  const rest = await call("listTablesSegmentedWithPrefix", "Legac", first.continuationToken);
  assert.deepEqual(rest.entries, ["Legacz"]);
  await call("deleteTable", "Legacz");
}

async function writes() {
  const order = keyed("O'B n%", {
    Customer: entityGenerator.String("Änn 😀"), Lines: entityGenerator.Int32(3), Total: entityGenerator.Double(2.5),
    Paid: entityGenerator.Boolean(true), Due: entityGenerator.DateTime(new Date("2026-03-03T10:20:30.123Z")),
    Serial: entityGenerator.Int64("123456789012"), Id: entityGenerator.Guid("0f1e2d3c-0000-4000-8000-00000000abcd"),
    Token: entityGenerator.Binary(Buffer.from([0, 1, 2, 255])),
  });
  const echoed = await call("insertEntity", "Legacy", order, { echoContent: true });
  assert.equal(echoed.Customer._, "Änn 😀");
  await assert.rejects(call("insertEntity", "Legacy", order), refusedWith(409, "EntityAlreadyExists"));
  const found = await call("retrieveEntity", "Legacy", "eu", "O'B n%");
  assert.equal(etagOf(found), etagOf(echoed));
  assert.equal(found.Serial._, "123456789012");
  assert.deepEqual(found.Due._, new Date("2026-03-03T10:20:30.123Z"));
  assert.deepEqual([...found.Token._], [0, 1, 2, 255]);
  const replaced = keyed("O'B n%", { Lines: entityGenerator.Int32(4) });
  const next = await call("replaceEntity", "Legacy", withEtag(replaced, etagOf(found)));
  await assert.rejects(call("replaceEntity", "Legacy", withEtag(replaced, etagOf(found))),
    refusedWith(412, "UpdateConditionNotSatisfied"));
  assert.notEqual(etagOf(next), etagOf(found));
  await call("mergeEntity", "Legacy", keyed("O'B n%", { More: entityGenerator.Int32(1) }));
  const merged = await call("retrieveEntity", "Legacy", "eu", "O'B n%");
  assert.deepEqual([merged.Lines._, merged.More._, merged.Customer], [4, 1, undefined]);
  await call("insertOrReplaceEntity", "Legacy", keyed("up", { A: entityGenerator.Int32(1) }));
  await call("insertOrMergeEntity", "Legacy", keyed("up", { B: entityGenerator.Int32(2) }));
  await call("deleteEntity", "Legacy", keyed("up"));
  await assert.rejects(call("retrieveEntity", "Legacy", "eu", "up"), refusedWith(404, "ResourceNotFound"));
}

async function etags() {
  await call("insertEntity", "Legacy", keyed("tagged", { A: entityGenerator.Int32(1) }));
  const changed = withEtag(keyed("tagged", { A: entityGenerator.Int32(2) }), foreign);
  for (const verb of ["replaceEntity", "mergeEntity", "deleteEntity"]) {
    await assert.rejects(call(verb, "Legacy", changed), refusedWith(412, "UpdateConditionNotSatisfied"), verb);
  }
  assert.equal((await call("retrieveEntity", "Legacy", "eu", "tagged")).A._, 1);
}

async function batches() {
  for (let batch = 0; batch < 3; ++batch) {
    const inserts = new storage.TableBatch();
    for (let i = 0; i < 100; ++i) {
      inserts.insertEntity(keyed(`b${batch}-${String(i).padStart(3, "0")}`, { N: entityGenerator.Int32(i) }), { echoContent: false });
    }
    const answers = await call("executeBatch", "Legacy", inserts);
    assert.equal(answers.length, 100);
    assert.ok(answers.every((part) => part.response.isSuccessful && part.response.statusCode === 204));
  }
  const mixed = new storage.TableBatch();
  mixed.insertEntity(keyed("fresh", { V: entityGenerator.String("--changeset_x--") }), { echoContent: true });
  mixed.insertOrReplaceEntity(keyed("b0-000", { N: entityGenerator.Int32(-1) }));
  mixed.insertOrMergeEntity(keyed("b0-001", { M: entityGenerator.Int32(-1) }));
  mixed.mergeEntity(keyed("b0-002", { M: entityGenerator.Int32(-1) }));
  mixed.replaceEntity(keyed("b0-003", { M: entityGenerator.Int32(-1) }));
  mixed.deleteEntity(keyed("b0-004"));
  const answers = await call("executeBatch", "Legacy", mixed);
  assert.deepEqual(answers.map((part) => part.response.statusCode), [201, 204, 204, 204, 204, 204]);
  assert.equal((await call("retrieveEntity", "Legacy", "eu", "b0-001")).N._, 1);
  const failing = new storage.TableBatch();
  failing.insertEntity(keyed("never"));
  failing.insertEntity(keyed("fresh"));
  await assert.rejects(call("executeBatch", "Legacy", failing), refusedWith(409, "EntityAlreadyExists"));
  await assert.rejects(call("retrieveEntity", "Legacy", "eu", "never"), refusedWith(404, "ResourceNotFound"));
  const conditional = new storage.TableBatch();
  conditional.mergeEntity(withEtag(keyed("fresh", { W: entityGenerator.Int32(1) }), foreign));
  await assert.rejects(call("executeBatch", "Legacy", conditional), refusedWith(412, "UpdateConditionNotSatisfied"));
  const lone = new storage.TableBatch();
  lone.retrieveEntity("eu", "fresh");
  const read = await call("executeBatch", "Legacy", lone);
  assert.equal(read[0].entity.V._, "--changeset_x--");
}

async function queries() {
  const { TableQuery } = storage;
  let seen = 0;
  let pages = 0;
  let token = null;
  do {
    const page = await call("queryEntities", "Legacy", new TableQuery().top(50).where("PartitionKey eq ?", "eu"), token);
    seen += page.entries.length;
    token = page.continuationToken;
    ++pages;
  } while (token);
  assert.equal(seen, 302);  // 300 of the batches less one, the fresh one, the tagged one, and that of writes()
  assert.ok(pages >= 7);
  const some = new TableQuery().select("RowKey", "N").where("N eq ?", 7).and("PartitionKey eq ?", "eu");
  assert.deepEqual((await call("queryEntities", "Legacy", some, null)).entries.map((entity) => entity.N._), [7, 7, 7]);
}

async function signatures() {
  const policy = { Id: "writers", AccessPolicy: { Permissions: "raud", Expiry: new Date(Date.now() + 3_600_000) } };
  await call("setTableAcl", "Legacy", { writers: policy.AccessPolicy });
  const { signedIdentifiers } = await call("getTableAcl", "Legacy");
  assert.equal(signedIdentifiers.writers.Permissions, "raud");
  const token = service.generateSharedAccessSignature("Legacy", { Id: "writers" });
  const writer = storage.createTableServiceWithSas(url, token);
  await promisify(writer.deleteEntity.bind(writer))("Legacy", keyed("fresh"));
  await call("setTableAcl", "Legacy", {});
}

async function properties() {
  const before = await call("getServiceProperties");
  assert.equal(before.Logging.Read, false);
  before.Logging.Read = true;
  await call("setServiceProperties", before);
  assert.equal((await call("getServiceProperties")).Logging.Read, true);
  before.Logging.Read = false;
  await call("setServiceProperties", before);
}

async function queues() {
  const work = storage.createQueueService(account, key, process.argv[3] + account);
  const ask = (verb, ...words) => promisify(work[verb].bind(work))(...words);
  await ask("createQueue", "legacy", { metadata: { owner: "Ann" } });
  await assert.rejects(ask("createQueue", "legacy"), refusedWith(409, "QueueAlreadyExists"));
  assert.equal((await ask("createQueueIfNotExists", "legacy")).created, false);
  assert.equal((await ask("doesQueueExist", "absent")).exists, false);
  assert.deepEqual((await ask("listQueuesSegmentedWithPrefix", "leg", null)).entries.map((queue) => queue.name), ["legacy"]);
  const { metadata, approximateMessageCount } = await ask("getQueueMetadata", "legacy");
  assert.deepEqual([metadata.owner, Number(approximateMessageCount)], ["Ann", 0]);
  const sent = await ask("createMessage", "legacy", "a <b>");
  assert.equal((await ask("peekMessage", "legacy")).messageText, "a <b>");
  const held = await ask("getMessage", "legacy", { visibilityTimeout: 60 });
  assert.deepEqual([held.messageId, held.messageText, Number(held.dequeueCount)], [sent.messageId, "a <b>", 1]);
  const updated = await ask("updateMessage", "legacy", held.messageId, held.popReceipt, 60, { messageText: "b" });
  await assert.rejects(ask("deleteMessage", "legacy", held.messageId, held.popReceipt), refusedWith(404, "MessageNotFound"));
  await ask("deleteMessage", "legacy", held.messageId, updated.popReceipt);
  const expiry = new Date(Date.now() + 3_600_000);
  await ask("setQueueAcl", "legacy", { workers: { Permissions: "rp", Expiry: expiry } });
  assert.equal((await ask("getQueueAcl", "legacy")).signedIdentifiers.workers.Permissions, "rp");
  const worker = storage.createQueueServiceWithSas(process.argv[3] + account, work.generateSharedAccessSignature("legacy", { Id: "workers" }));
  await promisify(worker.getMessages.bind(worker))("legacy");
  await assert.rejects(promisify(worker.createMessage.bind(worker))("legacy", "no"), refusedWith(403, "AuthorizationPermissionMismatch"));
  await ask("clearMessages", "legacy");
  await ask("deleteQueue", "legacy");
}

for (const part of [tables, writes, etags, batches, queries, signatures, properties, queues]) {
  await part();
  console.log(`legacy ${part.name}: ok`);
}
await call("deleteTable", "Legacy");
