// SPDX-License-Identifier: Apache-2.0
// Owns: the use of a served store from JavaScript, with the unmodified SDK of Azure Tables (@azure/data-tables).
// Must never: know Varve. Only the address is that of `varve serve`.
//
// Usage: node orders.mjs http://127.0.0.1:PORT/
import { AzureNamedKeyCredential, odata, TableClient } from "@azure/data-tables";

// The development account, which `varve serve` has unless other accounts are given. Its key is public.
const account = "devstoreaccount1";
const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const orders = new TableClient(process.argv[2] + account, "ScriptOrders", new AzureNamedKeyCredential(account, key), {
  allowInsecureConnection: true, // plain HTTP, on this machine alone
});
await orders.createTable();
await orders.createEntity({ partitionKey: "eu", rowKey: "0001", customer: "Ann", total: 12.5 });
await orders.submitTransaction([
  ["create", { partitionKey: "eu", rowKey: "0002", customer: "Bob", total: 99.5 }],
  ["update", { partitionKey: "eu", rowKey: "0001", paid: true }, "Merge"],
]);
try {
  await orders.createEntity({ partitionKey: "eu", rowKey: "0002" });
} catch (error) {
  console.log("refused:", error.statusCode);
}
const filter = odata`PartitionKey eq 'eu' and total ge ${10.5}`;
for await (const order of orders.listEntities({ queryOptions: { filter } })) {
  console.log(order.rowKey, order.customer, order.total, order.paid ?? false);
}
