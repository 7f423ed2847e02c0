// Goal: the JavaScript client library for queues, as it is, finds here what it expects of the queue service.
// Method: each of its verbs is used once and its answer judged; the first that differs ends it with 1.
// Usage: node storage_queue.mjs TABLES-URL http://127.0.0.1:PORT/
import assert from "node:assert/strict";
import {
  AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, AnonymousCredential, generateAccountSASQueryParameters,
  generateQueueSASQueryParameters, QueueClient, QueueSASPermissions, QueueServiceClient, SASProtocol,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { account, gathered, inAnHour, keyText, refusedWith, runParts } from "./storage_setup.mjs";

const url = process.argv[3] + account;
const key = new StorageSharedKeyCredential(account, keyText);
const service = new QueueServiceClient(url, key);
const orders = service.getQueueClient("orders");

async function queues() {
  await orders.create({ metadata: { owner: "Ann", Step: "1" } });
  await orders.create({ metadata: { owner: "Ann", Step: "1" } });  // the same one
  await assert.rejects(orders.create(), refusedWith(409, "QueueAlreadyExists"));
  assert.equal((await orders.createIfNotExists()).succeeded, false);
  assert.equal(await orders.exists(), true);
  assert.equal(await service.getQueueClient("absent").exists(), false);
  assert.equal((await service.getQueueClient("absent").deleteIfExists()).succeeded, false);
  for (const name of ["orders-eu", "orders-us", "zoo"]) await service.createQueue(name);
  const names = (await gathered(service.listQueues({ prefix: "orders" }))).map((queue) => queue.name);
  assert.deepEqual(names, ["orders", "orders-eu", "orders-us"]);
  const pages = await gathered(service.listQueues({ includeMetadata: true }).byPage({ maxPageSize: 3 }));
  assert.deepEqual(pages.map((page) => page.queueItems.length), [3, 1]);
  assert.equal(pages[0].queueItems[0].metadata.owner, "Ann");
  await service.deleteQueue("zoo");
  await assert.rejects(service.deleteQueue("zoo"), refusedWith(404, "QueueNotFound"));
  await orders.setMetadata({ colour: "red" });
  const { metadata, approximateMessagesCount } = await orders.getProperties();
  assert.deepEqual([metadata, approximateMessagesCount], [{ colour: "red" }, 0]);
}

async function messages() {
  const text = " <a> & \u00e4\ud83d\ude00 \t\"' ";  // the library drops line feeds when it sends
  const sent = await orders.sendMessage(text);
  assert.match(sent.messageId, /^[0-9a-f]{8}-[0-9a-f]{4}-/);
  assert.ok(sent.expiresOn - sent.insertedOn === 7 * 24 * 3600_000);
  const peeked = await orders.peekMessages();
  assert.deepEqual([peeked.peekedMessageItems[0].messageText, peeked.peekedMessageItems[0].dequeueCount], [text, 0]);
  const [held] = (await orders.receiveMessages({ visibilityTimeout: 60 })).receivedMessageItems;
  assert.deepEqual([held.messageId, held.messageText, held.dequeueCount], [sent.messageId, text, 1]);
  assert.equal((await orders.receiveMessages()).receivedMessageItems.length, 0);
  const updated = await orders.updateMessage(held.messageId, held.popReceipt, "changed", 0);
  await assert.rejects(orders.deleteMessage(held.messageId, held.popReceipt), refusedWith(404, "MessageNotFound"));
  const again = (await orders.receiveMessages()).receivedMessageItems[0];
  assert.deepEqual([again.messageText, again.dequeueCount], ["changed", 2]);
  await assert.rejects(orders.deleteMessage(held.messageId, updated.popReceipt), refusedWith(404, "MessageNotFound"));
  await orders.deleteMessage(again.messageId, again.popReceipt);
  await assert.rejects(orders.deleteMessage(again.messageId, again.popReceipt), refusedWith(404, "MessageNotFound"));
  await assert.rejects(orders.deleteMessage(again.messageId, "junk"), refusedWith(400));
  await orders.sendMessage("");
  assert.equal((await orders.peekMessages()).peekedMessageItems[0].messageText, "");
  await orders.clearMessages();
}

async function timesAndSizes() {
  const forever = await orders.sendMessage("a", { messageTimeToLive: -1, visibilityTimeout: 3600 });
  assert.equal(forever.expiresOn.toISOString(), "9999-12-31T23:59:59.000Z");
  assert.equal((await orders.receiveMessages()).receivedMessageItems.length, 0);
  assert.equal((await orders.getProperties()).approximateMessagesCount, 1);
  for (const options of [{ numberOfMessages: 0 }, { numberOfMessages: 33 }, { visibilityTimeout: 604801 }]) {
    await assert.rejects(orders.receiveMessages(options), refusedWith(400, "OutOfRangeQueryParameterValue"));
  }
  await assert.rejects(orders.sendMessage("a", { messageTimeToLive: 5, visibilityTimeout: 5 }), refusedWith(400));
  await orders.sendMessage("x".repeat(65536));
  await assert.rejects(orders.sendMessage("x".repeat(65537)), refusedWith(413, "RequestBodyTooLarge"));
  await orders.clearMessages();
  for (let i = 0; i < 40; ++i) await orders.sendMessage(String(i));
  const first = (await orders.receiveMessages({ numberOfMessages: 32 })).receivedMessageItems;
  const rest = (await orders.receiveMessages({ numberOfMessages: 32 })).receivedMessageItems;
  const texts = [...first, ...rest].map((message) => Number(message.messageText));
  assert.deepEqual(texts, [...Array(40).keys()]);  // first in, first out
  const receipts = new Set([...first, ...rest].map((message) => message.popReceipt));
  assert.equal(receipts.size, 40);
}

async function policies() {
  const permissions = "raup";
  await orders.setAccessPolicy([{ id: "workers", accessPolicy: { startsOn: new Date(Date.now() - 60_000), expiresOn: inAnHour(), permissions } }]);
  const { signedIdentifiers } = await orders.getAccessPolicy();
  assert.deepEqual([signedIdentifiers[0].id, signedIdentifiers[0].accessPolicy.permissions], ["workers", permissions]);
}

async function signatures() {
  const by = (token) => new QueueClient(`${url}/orders?${token}`, new AnonymousCredential());
  const limited = by(generateQueueSASQueryParameters({
    queueName: "orders", permissions: QueueSASPermissions.parse("ra"), expiresOn: inAnHour(),
    protocol: SASProtocol.HttpsAndHttp,
  }, key));
  await limited.sendMessage("by a signature");
  await limited.peekMessages();
  await assert.rejects(limited.receiveMessages(), refusedWith(403, "AuthorizationPermissionMismatch"));
  await assert.rejects(limited.clearMessages(), refusedWith(403));
  const workers = by(generateQueueSASQueryParameters({ queueName: "orders", identifier: "workers" }, key));
  await workers.receiveMessages();
  const whole = new QueueServiceClient(`${url}?${generateAccountSASQueryParameters({
    services: AccountSASServices.parse("q").toString(), resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
    permissions: AccountSASPermissions.parse("rwdlacup"), expiresOn: inAnHour(),
  }, key)}`, new AnonymousCredential());
  assert.equal((await gathered(whole.listQueues())).length, 3);
  await whole.createQueue("made-by-token");
  await whole.deleteQueue("made-by-token");
  await orders.setAccessPolicy([]);
  await assert.rejects(workers.receiveMessages(), refusedWith(403, "AuthenticationFailed"));
}

async function properties() {
  await service.setProperties({
    cors: [{ allowedOrigins: "*", allowedMethods: "PUT", allowedHeaders: "", exposedHeaders: "", maxAgeInSeconds: 60 }],
    hourMetrics: { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: { enabled: true, days: 3 } },
  });
  const read = await service.getProperties();
  assert.equal(read.cors[0].allowedOrigins, "*");
  assert.equal(read.hourMetrics.retentionPolicy.days, 3);
  const secondary = new QueueServiceClient(`${process.argv[3]}${account}-secondary`, key);
  assert.equal((await secondary.getStatistics()).geoReplication.status, "live");
}

async function byConnectionString() {
  const text = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${keyText};` +
    `QueueEndpoint=${url};`;
  const client = QueueServiceClient.fromConnectionString(text).getQueueClient("orders");
  assert.equal(await client.exists(), true);
  await client.delete();
  await assert.rejects(client.sendMessage("late"), refusedWith(404, "QueueNotFound"));
}

await runParts([queues, messages, timesAndSizes, policies, signatures, properties, byConnectionString]);
