// Goal: what the tests of the client libraries for queues and blobs share: the account, and short functions for checks.
import assert from "node:assert/strict";

export const account = "devstoreaccount1";
// The public key of the development account.
export const keyText = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

export const refusedWith = (status, code) => (error) => {
  assert.equal(error.statusCode, status);
  if (code) assert.equal(error.code, code);
  return true;
};

export const gathered = async (items) => {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
};

export const inAnHour = () => new Date(Date.now() + 3600_000);

// Runs the parts one after the other. The first that fails ends the program with 1.
export async function runParts(parts) {
  for (const part of parts) {
    await part();
    console.log(`${part.name}: ok`);
  }
}
