// SPDX-License-Identifier: Apache-2.0
// Owns: the use of a served queue from JavaScript, with the unmodified SDK of Azure Queues (@azure/storage-queue).
// Must never: know Varve. Only the address is that of `varve serve --listen-queues`.
//
// Usage: node shipments.mjs http://127.0.0.1:PORT/
import { QueueServiceClient, StorageSharedKeyCredential } from "@azure/storage-queue";

// The development account, which `varve serve` has unless other accounts are given. Its key is public.
const account = "devstoreaccount1";
const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const service = new QueueServiceClient(process.argv[2] + account, new StorageSharedKeyCredential(account, key));
const shipments = service.getQueueClient("script-shipments");
await shipments.create();
for (const order of ["0001", "0002"]) await shipments.sendMessage(order);

// A consumer holds a message while it works. If it fails, it gives the message back at once.
const [first] = (await shipments.receiveMessages({ visibilityTimeout: 300 })).receivedMessageItems;
console.log("delivery", first.dequeueCount, "of", first.messageText);
await shipments.updateMessage(first.messageId, first.popReceipt, first.messageText, 0);
try {
  await shipments.deleteMessage(first.messageId, first.popReceipt); // its receipt is no longer the last one
} catch (error) {
  console.log("refused:", error.statusCode);
}
const { receivedMessageItems } = await shipments.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 300 });
for (const message of receivedMessageItems.sort((a, b) => (a.messageText < b.messageText ? -1 : 1))) {
  console.log("delivery", message.dequeueCount, "of", message.messageText);
  await shipments.deleteMessage(message.messageId, message.popReceipt);
}
console.log("left:", (await shipments.getProperties()).approximateMessagesCount);
