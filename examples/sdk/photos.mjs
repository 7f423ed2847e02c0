// SPDX-License-Identifier: Apache-2.0
// Owns: the use of served blobs from JavaScript, with the unmodified SDK of Azure Blobs (@azure/storage-blob).
// Must never: know Varve. Only the address is that of `varve serve --listen-blobs`.
//
// Usage: node photos.mjs http://127.0.0.1:PORT/
import {
  BlobClient, BlobSASPermissions, BlobServiceClient, generateBlobSASQueryParameters, StorageSharedKeyCredential,
} from "@azure/storage-blob";

// The development account, which `varve serve` has unless other accounts are given. Its key is public.
const account = "devstoreaccount1";
const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const credential = new StorageSharedKeyCredential(account, key);
const photos = new BlobServiceClient(process.argv[2] + account, credential).getContainerClient("script-photos");
await photos.create();
const content = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => i % 251));
const ann = photos.getBlockBlobClient("eu/ann.jpg");
await ann.upload(content, content.length, { blobHTTPHeaders: { blobContentType: "image/jpeg" } });
console.log("bytes 500000 to 500003:", [...(await ann.downloadToBuffer(500_000, 4))].join(" "));
try {
  await ann.upload("x", 1, { conditions: { ifNoneMatch: "*" } }); // only creates
} catch (error) {
  console.log("refused:", error.statusCode);
}
const log = photos.getAppendBlobClient("seen.log");
await log.create();
for (const line of ["Ann\n", "Bob\n"]) await log.appendBlock(line, line.length);
console.log("log:", (await log.downloadToBuffer()).toString().split("\n").join(" ").trim());

// This URL lets its holder read the one blob for an hour, without the key.
const permissions = BlobSASPermissions.parse("r");
const expiresOn = new Date(Date.now() + 3_600_000);
const names = { containerName: "script-photos", blobName: "eu/ann.jpg" };
const signature = generateBlobSASQueryParameters({ ...names, permissions, expiresOn }, credential);
const shared = await new BlobClient(`${ann.url}?${signature}`).getProperties();
console.log("shared:", shared.contentType, shared.contentLength);
for await (const blob of photos.listBlobsByHierarchy("/")) console.log(blob.kind, blob.name);
