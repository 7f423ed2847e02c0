// Goal: the JavaScript client library, as it is, finds here what it expects of the table service.
// Method: each of its verbs is used once and its answer judged; the first that differs ends it with 1.
// Usage: node data_tables.mjs http://127.0.0.1:PORT/
import assert from "node:assert/strict";
import {
  AzureNamedKeyCredential, AzureSASCredential, generateTableSas, odata, TableClient, TableServiceClient, TableTransaction,
} from "@azure/data-tables";

const account = "devstoreaccount1";
const url = process.argv[2] + account;
const options = { allowInsecureConnection: true };  // this machine alone
// The public key of the development account.
const key = new AzureNamedKeyCredential(account, "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==");
const service = new TableServiceClient(url, key, options);
const table = new TableClient(url, "Orders", key, options);
const refusedWith = (status, code) => (error) => {
  assert.equal(error.statusCode, status);
  if (code) assert.equal(error.code ?? error.details?.odataError?.code, code);
  return true;
};
const gathered = async (items) => {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
};
const row = (number) => String(number).padStart(4, "0");

async function tables() {
  await service.createTable("Orders");
  await service.createTable("Orders");  // the client passes over "it exists"
  await service.createTable("Other");
  assert.deepEqual((await gathered(service.listTables())).map((found) => found.name), ["Orders", "Other"]);
  const filter = odata`TableName eq ${"Other"}`;
  assert.deepEqual((await gathered(service.listTables({ queryOptions: { filter } }))).map((found) => found.name), ["Other"]);
  await service.deleteTable("Other");
}

async function types() {
  const order = {
    partitionKey: "eu", rowKey: "O'B n%", customer: "Änn 😀", lines: 3, weight: 2.5, paid: true,
    due: new Date("2026-03-03T10:20:30.123Z"), serial: 123456789012n, token: new Uint8Array([0, 1, 2, 255]),
    id: { type: "Guid", value: "0f1e2d3c-0000-4000-8000-00000000abcd" }, total: { type: "Double", value: 4 },
  };
  const { etag } = await table.createEntity(order);
  const found = await table.getEntity("eu", order.rowKey);
  assert.equal(found.etag, etag);
  assert.equal(found.customer, order.customer);
  assert.equal(found.lines, 3);
  assert.equal(found.weight, 2.5);
  assert.equal(found.paid, true);
  assert.deepEqual(found.due, order.due);
  assert.equal(found.serial, order.serial);
  assert.deepEqual([...found.token], [...order.token]);
  assert.deepEqual(found.id, order.id);
  assert.equal(found.total, 4);
  const typed = await table.getEntity("eu", order.rowKey, { disableTypeConversion: true });
  assert.deepEqual(typed.serial, { type: "Int64", value: "123456789012" });
}

async function writes() {
  const first = await table.createEntity({ partitionKey: "eu", rowKey: "1", a: 1, b: 2 });
  await assert.rejects(table.createEntity({ partitionKey: "eu", rowKey: "1" }), refusedWith(409));
  await table.updateEntity({ partitionKey: "eu", rowKey: "1", a: 3 }, "Merge", { etag: first.etag });
  await assert.rejects(
    table.updateEntity({ partitionKey: "eu", rowKey: "1", a: 4 }, "Replace", { etag: first.etag }), refusedWith(412));
  const merged = await table.getEntity("eu", "1");
  assert.deepEqual([merged.a, merged.b], [3, 2]);
  await table.updateEntity({ partitionKey: "eu", rowKey: "1", a: 5 }, "Replace");
  assert.equal((await table.getEntity("eu", "1")).b, undefined);
  await table.upsertEntity({ partitionKey: "eu", rowKey: "2", a: 1 }, "Replace");
  await table.upsertEntity({ partitionKey: "eu", rowKey: "2", b: 2 }, "Merge");
  const upserted = await table.getEntity("eu", "2");
  assert.deepEqual([upserted.a, upserted.b], [1, 2]);
  await table.deleteEntity("eu", "2");
  await assert.rejects(table.getEntity("eu", "2"), refusedWith(404));
}

async function batches() {
  for (let batch = 0; batch < 12; ++batch) {
    const transaction = new TableTransaction();
    for (let i = 0; i < 100; ++i) transaction.createEntity({ partitionKey: "us", rowKey: row(batch * 100 + i), n: i });
    const answer = await table.submitTransaction(transaction.actions);
    assert.equal(answer.status, 202);
    assert.equal(answer.subResponses.length, 100);
    assert.ok(answer.subResponses.every((part) => part.status === 204 && part.etag));
  }
  const failing = new TableTransaction();
  failing.createEntity({ partitionKey: "us", rowKey: "fresh" });
  failing.createEntity({ partitionKey: "us", rowKey: row(1) });
  await assert.rejects(table.submitTransaction(failing.actions), refusedWith(409, "EntityAlreadyExists"));
  await assert.rejects(table.getEntity("us", "fresh"), refusedWith(404));
  const mixed = new TableTransaction();
  mixed.updateEntity({ partitionKey: "us", rowKey: row(0), n: -1 }, "Replace");
  mixed.upsertEntity({ partitionKey: "us", rowKey: row(1), n: -1 }, "Merge");
  mixed.deleteEntity("us", row(2));
  await table.submitTransaction(mixed.actions);
}

async function queries() {
  const pages = await gathered(table.listEntities().byPage({ maxPageSize: 500 }));
  assert.equal(pages.flat().length, 1201);
  assert.ok(pages.length >= 3);
  const filter = odata`PartitionKey eq ${"us"} and n eq ${7}`;
  const found = await gathered(table.listEntities({ queryOptions: { filter, select: ["rowKey", "n"] } }));
  assert.deepEqual(found.map((entity) => entity.n), Array(12).fill(7));
  const paging = table.listEntities().byPage({ maxPageSize: 3 });
  const { continuationToken } = (await paging.next()).value;
  const next = (await table.listEntities().byPage({ maxPageSize: 3, continuationToken }).next()).value;
  assert.equal(next[0].rowKey, row(1));
}

async function signatures() {
  const hour = new Date(Date.now() + 3_600_000);
  const bySas = (name, sas) => new TableClient(url, name, new AzureSASCredential(sas), options);
  const reader = bySas("Orders", generateTableSas("Orders", key, { permissions: { query: true }, expiresOn: hour }));
  assert.equal((await reader.getEntity("eu", "1")).a, 5);
  await assert.rejects(reader.deleteEntity("eu", "1"), refusedWith(403));
  await table.setAccessPolicy([{ id: "writers", accessPolicy: { expiry: hour, permission: "raud" } }]);
  const policies = await table.getAccessPolicy();
  assert.equal(policies[0].id, "writers");
  assert.equal(policies[0].accessPolicy.permission, "raud");
  const writer = bySas("Orders", generateTableSas("Orders", key, { identifier: "writers" }));
  await writer.deleteEntity("eu", "1");
  await table.setAccessPolicy([]);
  await assert.rejects(writer.getEntity("eu", "1"), refusedWith(403));
}

async function properties() {
  const initial = await service.getProperties();
  assert.equal(initial.logging.read, false);
  assert.equal(initial.hourMetrics.enabled, false);
  const cors = [{
    allowedOrigins: "https://shop.example", allowedMethods: "GET,POST", allowedHeaders: "x-ms-*,content-type",
    exposedHeaders: "x-ms-*", maxAgeInSeconds: 300,
  }];
  const retentionPolicy = { enabled: true, days: 7 };
  await service.setProperties({ hourMetrics: { version: "1.0", enabled: true, includeAPIs: false, retentionPolicy }, cors });
  const changed = await service.getProperties();
  assert.deepEqual(changed.cors.map((rule) => ({ ...rule })), cors);
  assert.deepEqual({ ...changed.hourMetrics.retentionPolicy }, retentionPolicy);
  assert.equal(changed.logging.read, false);
  await service.setProperties({ logging: changed.logging, minuteMetrics: changed.minuteMetrics });  // as they were read
  await assert.rejects(service.setProperties({ cors: Array(6).fill(cors[0]) }), refusedWith(400));

  const headers = { Origin: "https://shop.example", "Access-Control-Request-Method": "GET" };
  const asked = () => fetch(`${url}/Orders`, { method: "OPTIONS", headers });
  const allowed = await asked();
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers.get("access-control-allow-origin"), "https://shop.example");
  await service.setProperties({ cors: [] });
  assert.equal((await asked()).status, 403);

  const secondary = new TableServiceClient(`${process.argv[2]}${account}-secondary`, key, options);
  assert.equal((await secondary.getStatistics()).geoReplication.status, "live");
  await assert.rejects(service.getStatistics(), refusedWith(400));
}

for (const part of [tables, types, writes, batches, queries, signatures, properties]) {
  await part();
  console.log(`${part.name}: ok`);
}
await service.deleteTable("Orders");
