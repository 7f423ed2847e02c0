// Goal: the JavaScript client library for blobs, as it is, finds here what it expects of the blob service.
// Method: its verbs are used once and their answers judged; the first that differs ends it with 1.
// Usage: node storage_blob.mjs TABLES-URL QUEUES-URL http://127.0.0.1:PORT/
import assert from "node:assert/strict";
import {
  AnonymousCredential, BlobSASPermissions, BlobServiceClient, ContainerSASPermissions, generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";

const account = "devstoreaccount1";
const url = process.argv[4] + account;
// The public key of the development account.
const key = new StorageSharedKeyCredential(account, "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==");
const service = new BlobServiceClient(url, key);
const photos = service.getContainerClient("photos");
const refusedWith = (status, code) => (error) => {
  assert.equal(error.statusCode, status);
  if (code) assert.equal(error.code, code);
  return true;
};
const gathered = async (items) => {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
};
const inAnHour = () => new Date(Date.now() + 3600_000);
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

const parts = { containers, contents, large, appends, leases, listings, signatures, copies };
for (const [name, part] of Object.entries(parts)) {
  await part();
  console.log(`ok ${name}`);
}
await photos.delete();
assert.equal(await photos.exists(), false);
console.log("the blob library finds what it expects");
