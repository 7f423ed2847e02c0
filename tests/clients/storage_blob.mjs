// Goal: the JavaScript client library for blobs, as it is, finds here what it expects of the blob service.
// Method: its verbs are used once and their answers judged; the first that differs ends it with 1.
// Usage: node storage_blob.mjs TABLES-URL QUEUES-URL http://127.0.0.1:PORT/
import assert from "node:assert/strict";
import {
  AnonymousCredential, BlobSASPermissions, BlobServiceClient, ContainerSASPermissions, generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { account, gathered, inAnHour, keyText, refusedWith, runParts } from "./storage_setup.mjs";

const url = process.argv[4] + account;
const key = new StorageSharedKeyCredential(account, keyText);
const service = new BlobServiceClient(url, key);
const photos = service.getContainerClient("photos");
const varied = (bytes) => Buffer.from(Array.from({ length: bytes }, (_, i) => (i * 31 + (i >> 12)) & 255));

async function containers() {
  await photos.create({ metadata: { owner: "Ann" } });
  await assert.rejects(photos.create(), refusedWith(409, "ContainerAlreadyExists"));
  assert.equal((await photos.createIfNotExists()).succeeded, false);
  assert.equal(await photos.exists(), true);
  assert.equal(await service.getContainerClient("absent").exists(), false);
  for (const name of ["photos-eu", "photos-us", "zoo"]) await service.createContainer(name);
  const names = (await gathered(service.listContainers({ prefix: "photos" }))).map((one) => one.name);
  assert.deepEqual(names, ["photos", "photos-eu", "photos-us"]);
  const pages = await gathered(service.listContainers({ includeMetadata: true }).byPage({ maxPageSize: 3 }));
  assert.deepEqual(pages.map((page) => page.containerItems.length), [3, 1]);
  assert.equal(pages[0].containerItems[0].metadata.owner, "Ann");
  await service.deleteContainer("zoo");
  await photos.setMetadata({ colour: "red" });
  const properties = await photos.getProperties();
  assert.deepEqual([properties.metadata, properties.leaseState], [{ colour: "red" }, "available"]);
}

async function contents() {
  const blob = photos.getBlockBlobClient("eu/a b \u00e4.txt");
  const put = await blob.upload("hello", 5, { blobHTTPHeaders: { blobContentType: "text/plain" }, metadata: { a: "1" }, tags: { year: "2026" } });
  const got = await blob.download();
  assert.deepEqual([got.etag, got.contentType, got.metadata, got.contentLength, got.tagCount], [put.etag, "text/plain", { a: "1" }, 5, 1]);
  assert.equal((await blob.downloadToBuffer()).toString(), "hello");
  assert.equal((await blob.downloadToBuffer(1, 3)).toString(), "ell");
  await assert.rejects(blob.upload("x", 1, { conditions: { ifNoneMatch: "*" } }), refusedWith(409, "BlobAlreadyExists"));
  await assert.rejects(blob.upload("x", 1, { conditions: { ifMatch: '"0x1"' } }), refusedWith(412, "ConditionNotMet"));
  await assert.rejects(photos.getBlobClient("absent").download(), refusedWith(404, "BlobNotFound"));
  assert.equal(await photos.getBlobClient("absent").exists(), false);
  assert.deepEqual((await blob.getTags()).tags, { year: "2026" });
  await blob.setTags({ place: "New York" });
  assert.deepEqual((await blob.getTags()).tags, { place: "New York" });
  await blob.setMetadata({ b: "2" });
  await blob.setHTTPHeaders({ blobContentLanguage: "de" });
  await blob.setAccessTier("Cool");
  const properties = await blob.getProperties();
  assert.deepEqual([properties.metadata, properties.contentLanguage, properties.accessTier], [{ b: "2" }, "de", "Cool"]);
  await blob.delete();
  assert.equal((await blob.deleteIfExists()).succeeded, false);
}

async function large() {
  const content = varied(9_000_000);
  const whole = photos.getBlockBlobClient("whole");
  await whole.upload(content, content.length);
  assert.ok(content.equals(await whole.downloadToBuffer()));
  const blocks = photos.getBlockBlobClient("blocks");
  await blocks.uploadData(content, { blockSize: 1 << 20, maxSingleShotSize: 1 << 20, concurrency: 4 });
  assert.ok(content.equals(await blocks.downloadToBuffer(0, undefined, { blockSize: 1 << 20, concurrency: 4 })));
  assert.equal((await blocks.getBlockList("all")).committedBlocks.length, 9);
}

async function appends() {
  const log = photos.getAppendBlobClient("log");
  await log.create();
  for (const line of ["one\n", "two\n"]) await log.appendBlock(line, line.length);
  await assert.rejects(log.appendBlock("x", 1, { conditions: { appendPosition: 3 } }), refusedWith(412, "AppendPositionConditionNotMet"));
  assert.equal((await log.downloadToBuffer()).toString(), "one\ntwo\n");
  await assert.rejects(log.seal(), refusedWith(501, "NotImplemented"));
}

async function leases() {
  const blob = photos.getBlockBlobClient("leased");
  await blob.upload("1", 1);
  const lease = blob.getBlobLeaseClient();
  const { leaseId } = await lease.acquireLease(15);
  await assert.rejects(blob.upload("2", 1), refusedWith(412, "LeaseIdMissing"));
  await blob.upload("2", 1, { conditions: { leaseId } });
  await lease.renewLease();
  await lease.releaseLease();
  await blob.upload("3", 1);
}

async function listings() {
  for (const name of ["l/a", "l/eu/1", "l/eu/2", "l/us/1"]) await photos.getBlockBlobClient(name).upload("x", 1);
  const flat = (await gathered(photos.listBlobsFlat({ prefix: "l/", includeMetadata: true }))).map((one) => one.name);
  assert.deepEqual(flat, ["l/a", "l/eu/1", "l/eu/2", "l/us/1"]);
  const folded = (await gathered(photos.listBlobsByHierarchy("/", { prefix: "l/" }))).map((one) => `${one.kind} ${one.name}`);
  assert.deepEqual(folded.sort(), ["blob l/a", "prefix l/eu/", "prefix l/us/"]);
  const pages = await gathered(photos.listBlobsFlat({ prefix: "l/" }).byPage({ maxPageSize: 3 }));
  assert.deepEqual(pages.map((page) => page.segment.blobItems.length), [3, 1]);
}

async function signatures() {
  const blob = photos.getBlockBlobClient("eu/signed.txt");
  await blob.upload("hello", 5);
  const reading = generateBlobSASQueryParameters({ containerName: "photos", blobName: "eu/signed.txt", permissions: BlobSASPermissions.parse("r"), expiresOn: inAnHour(), contentType: "image/gif" }, key);
  const reader = new BlobServiceClient(`${url}?${reading}`, new AnonymousCredential()).getContainerClient("photos");
  assert.equal((await reader.getBlobClient("eu/signed.txt").download()).contentType, "image/gif");
  await assert.rejects(reader.getBlobClient("log").download(), refusedWith(403, "AuthenticationFailed"));
  await photos.setAccessPolicy(undefined, [{ id: "writers", accessPolicy: { permissions: "cl", expiresOn: inAnHour(), startsOn: new Date(Date.now() - 60_000) } }]);
  assert.equal((await photos.getAccessPolicy()).signedIdentifiers[0].id, "writers");
  const byPolicy = generateBlobSASQueryParameters({ containerName: "photos", identifier: "writers" }, key);
  const writer = new BlobServiceClient(`${url}?${byPolicy}`, new AnonymousCredential()).getContainerClient("photos");
  await writer.getBlockBlobClient("by-policy").upload("1", 1);
  await assert.rejects(writer.getBlockBlobClient("by-policy").upload("2", 1), refusedWith(409, "BlobAlreadyExists"));
  await assert.rejects(writer.getBlobClient("by-policy").download(), refusedWith(403, "AuthorizationPermissionMismatch"));
}

async function copies() {
  const source = photos.getBlockBlobClient("source");
  await source.upload("content", 7, { metadata: { a: "1" } });
  const copy = photos.getBlockBlobClient("copy");
  assert.equal((await (await copy.beginCopyFromURL(source.url)).pollUntilDone()).copyStatus, "success");
  assert.deepEqual((await copy.getProperties()).metadata, { a: "1" });
  assert.equal((await copy.downloadToBuffer()).toString(), "content");
}

async function fromUrls() {
  const source = photos.getBlockBlobClient("source");
  await source.upload("content of a source", 19);
  const copy = photos.getBlockBlobClient("synchronous");
  assert.equal((await copy.syncCopyFromURL(source.url)).copyStatus, "success");
  const blocks = photos.getBlockBlobClient("from-blocks");
  const id = Buffer.from("0001").toString("base64");
  await blocks.stageBlockFromURL(id, source.url, 0, 7);
  await blocks.commitBlockList([id]);
  assert.equal((await blocks.downloadToBuffer()).toString(), "content");
  const log = photos.getAppendBlobClient("from-url");
  await log.create();
  await log.appendBlockFromURL(source.url, 8, 4);
  assert.equal((await log.downloadToBuffer()).toString(), "of a");
  await assert.rejects(copy.syncCopyFromURL("http://127.0.0.1:9/account/photos/a"), refusedWith(403, "CannotVerifyCopySource"));
}

async function batches() {
  const blobs = ["b/1", "b/2", "b/3"].map((name) => photos.getBlockBlobClient(name));
  for (const blob of blobs) await blob.upload("x", 1);
  const batch = service.getBlobBatchClient();
  const tiers = await batch.setBlobsAccessTier(blobs.map((blob) => blob.url), key, "Cool");
  assert.deepEqual([tiers.subResponsesSucceededCount, tiers.subResponsesFailedCount], [3, 0]);
  assert.equal((await blobs[0].getProperties()).accessTier, "Cool");
  await blobs[1].delete();
  const deleted = await batch.deleteBlobs(blobs.map((blob) => blob.url), key);
  assert.deepEqual([deleted.subResponsesSucceededCount, deleted.subResponsesFailedCount], [2, 1]);
  assert.deepEqual(deleted.subResponses.map((one) => one.status), [202, 404, 202]);
  assert.equal(deleted.subResponses[1].errorCode, "BlobNotFound");
}

async function accountInformation() {
  const information = await service.getAccountInfo();
  assert.deepEqual([information.skuName, information.accountKind], ["Standard_LRS", "StorageV2"]);
  assert.equal((await service.getProperties()).staticWebsite.enabled, false);
  await assert.rejects(service.setProperties({ staticWebsite: { enabled: true } }), refusedWith(501, "NotImplemented"));
}

async function logs() {
  const all = { version: "1.0", read: true, write: true, deleteProperty: true, retentionPolicy: { enabled: true, days: 7 } };
  await service.setProperties({ blobAnalyticsLogging: all });
  assert.equal((await service.getProperties()).blobAnalyticsLogging.retentionPolicy.days, 7);
  const own = service.getContainerClient("$logs");
  const isListed = async (options) => (await gathered(service.listContainers(options))).some((one) => one.name === "$logs");
  assert.deepEqual([await isListed({}), await isListed({ includeSystem: true })], [false, true]);
  const deadline = Date.now() + 30_000;
  let text = "";
  while (!text.includes(";PutBlob;Success;201;")) {
    assert.ok(Date.now() < deadline, "no entry within 30 s");
    await photos.getBlockBlobClient("logged").upload("x", 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const log of await gathered(own.listBlobsFlat({ prefix: "blob/", includeMetadata: true }))) {
      assert.equal(log.metadata.LogVersion ?? log.metadata.logversion, "1.0");
      text += (await own.getBlobClient(log.name).downloadToBuffer()).toString();
    }
  }
  assert.ok(text.split("\n").filter((line) => line).every((line) => line.startsWith("1.0;")));
  await assert.rejects(own.delete(), refusedWith(403, "AuthorizationFailure"));
  await assert.rejects(own.getBlockBlobClient("mine").upload("x", 1), refusedWith(403, "AuthorizationFailure"));
  await service.setProperties({ blobAnalyticsLogging: { ...all, read: false, write: false, deleteProperty: false, retentionPolicy: { enabled: false } } });
}

await runParts([containers, contents, large, appends, leases, listings, signatures, copies, fromUrls, batches,
  accountInformation, logs]);
await photos.delete();
assert.equal(await photos.exists(), false);
console.log("the blob library finds what it expects");
