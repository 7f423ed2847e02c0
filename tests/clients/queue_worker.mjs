// Owns: a client of the endurance run that works on one queue alone, and knows what the queue must hold.
// Must never: count a message as put or deleted before the server has said so.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { QueueServiceClient, StorageSharedKeyCredential } from "@azure/storage-queue";

const holdSeconds = 1;  // the shortest that the service takes
const messagesMax = 200;

export class QueueWorker {
  #random;
  #queue;
  #total;
  #messages = new Map();  // id -> text and the least count of deliveries, as acknowledged
  #doubt = null;          // the write that was not answered: { put: text }, { removed: id } or { updated: id, text }
  #next = 0;

  constructor(number, url, account, key, random, total) {
    // Without retries: a write that was repeated by the library would not be known as one that was under way.
    const service = new QueueServiceClient(url + account, new StorageSharedKeyCredential(account, key), { retryOptions: { maxTries: 1 } });
    this.name = `worker-${String(number).padStart(3, "0")}`;
    this.#queue = service.getQueueClient(this.name);
    this.#random = random;
    this.#total = total;
  }

  async begin() {
    await this.#queue.create();
  }

  /// Until the server is gone.
  async run(life) {
    while (!life.over) {
      try {
        await this.#step();
      } catch (error) {
        if (life.over && error.statusCode === undefined) return;
        throw error;
      }
    }
  }

  /// The queue holds what was acknowledged, with or without the one write in doubt; the worker goes on from it.
  async check() {
    await pause(holdSeconds * 1000 + 100);  // all holds are over
    const counted = (await this.#queue.getProperties()).approximateMessagesCount;
    const found = new Map();
    for (;;) {
      const page = await this.#queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 60 });
      if (page.receivedMessageItems.length === 0) break;
      for (const message of page.receivedMessageItems) {
        assert.ok(!found.has(message.messageId), `${this.name}: ${message.messageId} was delivered twice`);
        found.set(message.messageId, message);
      }
    }
    assert.equal(counted, found.size, `${this.name}: the count is not that of its messages`);
    for (const [id, { text, deliveries }] of this.#messages) {
      const message = found.get(id);
      if (!message) {
        assert.equal(this.#doubt?.removed, id, `${this.name}: ${id} was lost`);
        continue;
      }
      const isDoubted = this.#doubt?.updated === id && this.#doubt.text === message.messageText;
      assert.ok(isDoubted || message.messageText === text, `${this.name}: ${id} has another text`);
      assert.ok(message.dequeueCount > deliveries, `${this.name}: ${id} was counted down`);
    }
    for (const [id, message] of found) {
      if (this.#messages.has(id)) continue;
      assert.equal(this.#doubt?.put, message.messageText, `${this.name}: ${id} came back after it was deleted`);
    }
    this.#total.messagesChecked += found.size;
    this.#doubt = null;
    this.#messages = new Map([...found].map(([id, message]) => [id, { text: message.messageText, deliveries: message.dequeueCount }]));
    // Each is let go again, by its new receipt.
    for (const [id, message] of found) await this.#queue.updateMessage(id, message.popReceipt, undefined, 0);
  }

  async #step() {
    if (this.#messages.size < messagesMax && this.#random(2) === 0) return this.#put();
    const { receivedMessageItems: got } =
      await this.#queue.receiveMessages({ numberOfMessages: 1 + this.#random(8), visibilityTimeout: holdSeconds });
    const begun = Date.now();
    for (const message of got) {
      const known = this.#messages.get(message.messageId);
      assert.ok(known, `${this.name}: ${message.messageId} was delivered after it was deleted`);
      assert.equal(message.messageText, known.text);
      assert.ok(message.dequeueCount > known.deliveries);
      known.deliveries = message.dequeueCount;
    }
    for (const message of got) {
      if (Date.now() - begun > holdSeconds * 500) return;  // the hold may end soon, and a next get may follow
      const chance = this.#random(10);
      if (chance < 7) await this.#remove(message);
      else if (chance < 9) await this.#update(message);
    }
  }

  async #put() {
    const text = `${this.name} ${this.#next++} ${"<&>".repeat(this.#random(this.#random(10) === 0 ? 8000 : 100))}`;
    this.#doubt = { put: text };
    const { messageId } = await this.#queue.sendMessage(text);
    this.#messages.set(messageId, { text, deliveries: 0 });
    this.#done();
  }
  async #remove({ messageId, popReceipt }) {
    this.#doubt = { removed: messageId };
    await this.#queue.deleteMessage(messageId, popReceipt);
    this.#messages.delete(messageId);
    this.#done();
  }
  async #update({ messageId, popReceipt }) {
    const text = `${this.name} changed ${this.#next++}`;
    this.#doubt = { updated: messageId, text };
    await this.#queue.updateMessage(messageId, popReceipt, text, this.#random(2));
    this.#messages.get(messageId).text = text;
    this.#done();
  }
  #done() {
    this.#doubt = null;
    ++this.#total.messages;
  }
}
