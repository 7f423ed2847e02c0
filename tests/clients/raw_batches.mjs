// Goal: batches that no library here sends are answered as their clients expect: those of the Java library, empty ones,
// and ones with ETags of another service.
// Method: each body is written as the client writes it, byte by byte, and sent with the account's key; the first answer
// that differs ends it with 1.
// Usage: node raw_batches.mjs http://127.0.0.1:PORT/
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";

const account = "devstoreaccount1";
// The public key of the development account.
const key = Buffer.from("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==", "base64");
const url = process.argv[2] + account;

async function send(verb, resource, headers = {}, body = undefined) {
  const address = new URL(`${url}/${resource}`);
  const date = new Date().toUTCString();
  const text = `${date}\n/${account}${address.pathname}`;
  const signature = createHmac("sha256", key).update(text).digest("base64");
  const response = await fetch(address, {
    method: verb, body,
    headers: { "x-ms-date": date, "x-ms-version": "2019-02-02", Authorization: `SharedKeyLite ${account}:${signature}`, ...headers },
  });
  return { status: response.status, text: await response.text() };
}
const batch = (lines, accept = "application/json;odata=minimalmetadata") =>
  send("POST", "$batch", { "Content-Type": "multipart/mixed; boundary=batch_1", Accept: accept, MaxDataServiceVersion: "3.0;NetFx" },
    lines.join("\r\n"));
const statuses = (answer) => [...answer.text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => Number(match[1]));
const opening = ["--batch_1", "Content-Type: multipart/mixed; boundary=changeset_2", ""];
const closing = ["--changeset_2--", "--batch_1--", ""];
const entityUrl = (row) => `${url}/Raw(PartitionKey='eu',RowKey='${row}')`;

/// The part of a change set as the Java library writes it: the tunnelled verb besides the verb itself.
const javaPart = (verb, address, body, more = []) => [
  "--changeset_2", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
  `${verb} ${address} HTTP/1.1`, "Accept: application/json;odata=minimalmetadata", "Content-Type: application/json",
  "Prefer: return-no-content", "MaxDataServiceVersion: 3.0;NetFx", ...more, `Content-Length: ${Buffer.byteLength(body)}`, "", body,
];

async function javaBatches() {
  const merge = ["If-Match: *", "X-HTTP-Method: MERGE"];
  const answer = await batch([
    ...opening,
    ...javaPart("POST", `${url}/Raw`, '{"PartitionKey":"eu","RowKey":"1","A":1}', ["Content-ID: 0"]),
    ...javaPart("MERGE", entityUrl("0"), '{"PartitionKey":"eu","RowKey":"0","B":2}', [...merge, "Content-ID: 1"]),
    ...javaPart("MERGE", entityUrl("2"), '{"PartitionKey":"eu","RowKey":"2","B":2}', ["X-HTTP-Method: MERGE", "Content-ID: 2"]),
    ...closing,
  ]);
  assert.equal(answer.status, 202);
  assert.deepEqual(statuses(answer), [204, 204, 204]);
  const merged = await send("GET", "Raw(PartitionKey='eu',RowKey='0')");
  assert.equal(JSON.parse(merged.text).B, 2);
  assert.equal(JSON.parse(merged.text).A, 0);
}

async function emptyChangeSets() {
  const answer = await batch([...opening, ...closing], "application/atom+xml,application/xml");
  assert.equal(answer.status, 202);
  assert.deepEqual(statuses(answer), []);
  assert.match(answer.text, /^--batchresponse_\S+\r\nContent-Type: multipart\/mixed; boundary=(changesetresponse_\S+)\r\n\r\n--\1--\r\n/);
}

async function foreignEtags() {
  for (const etag of ['W/"0x5B168C7B6E589D2"', 'w/"x"', "W/\"datetime'2012-04-25T00%3A38%3A09.8263263Z'\"", 'W/""']) {
    const alone = await send("MERGE", "Raw(PartitionKey='eu',RowKey='0')", { "If-Match": etag, "Content-Type": "application/json" }, '{"C":1}');
    assert.equal(alone.status, 412, etag);
    const answer = await batch([
      ...opening, ...javaPart("MERGE", entityUrl("0"), '{"C":1}', [`If-Match: ${etag}`, "X-HTTP-Method: MERGE"]), ...closing,
    ]);
    assert.equal(answer.status, 202, etag);
    assert.deepEqual(statuses(answer), [412], etag);
    assert.match(answer.text, /"code":"UpdateConditionNotSatisfied".*"value":"0:/);
  }
  for (const text of ["0x5B168C7B6E589D2", '"x"', 'W/"x']) {
    assert.equal((await send("DELETE", "Raw(PartitionKey='eu',RowKey='0')", { "If-Match": text })).status, 400, text);
  }
}

assert.equal((await send("POST", "Tables", { "Content-Type": "application/json" }, '{"TableName":"Raw"}')).status, 201);
const seed = '{"PartitionKey":"eu","RowKey":"0","A":0}';
assert.equal((await send("POST", "Raw", { "Content-Type": "application/json" }, seed)).status, 201);
for (const part of [javaBatches, emptyChangeSets, foreignEtags]) {
  await part();
  console.log(`raw ${part.name}: ok`);
}
await send("DELETE", "Tables('Raw')");
