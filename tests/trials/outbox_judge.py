"""Owns: the verdict on an outbox: ledgers and the content of the store in, broken promises out.
Must never: ask the store about what a ledger should know, or depend on the order in which ledgers are read.

These are the promises, with the sign by which the judge knows a broken one. trials_test.py breaks each of them.

  P1  No acknowledged message is lost. Sign: the queue is empty, and no worker began to delete it.
  P2  No message is there without its entity. Sign: a worker or the last look finds no entity.
  P3  No message is delivered after its acknowledged delete. Sign: the get was asked for after the acknowledgement.
  P4  If both were one commit, no entity is there without its message. Sign: no worker ever got it.
  P5  An acknowledged entity stays, and so does the work before an acknowledged delete. Sign: the last look.
  P6  The queue delivers the texts that were put, and nothing else. Signs: another text, an item that no producer began,
      or a count of messages that no worker can get."""


class Item:
    __slots__ = ("is_begun", "is_put", "is_got", "asked_last", "deletes_begun", "deleted_first")

    def __init__(self):
        self.is_begun = self.is_put = self.is_got = False
        self.asked_last = 0
        self.deletes_begun = 0
        self.deleted_first = None


class Judge:
    def __init__(self):
        self.items = {}
        self.findings = []
        self.counts = dict.fromkeys(("puts", "deliveries", "deletes"), 0)

    def take(self, records):
        """Takes the records of one ledger, or of a part of it. The order of ledgers has no meaning."""
        for record in records:
            item = self.items.get(record.item)
            if item is None:
                item = self.items[record.item] = Item()
            getattr(self, "_" + record.kind.replace("-", "_"))(item, record)

    def _put_begun(self, item, _record):
        item.is_begun = True

    def _put(self, item, _record):
        item.is_put = True
        self.counts["puts"] += 1

    def _got(self, item, record):
        item.is_got = True
        item.asked_last = max(item.asked_last, int(record.value))
        self.counts["deliveries"] += 1

    def _wrong_text(self, _item, record):
        self.findings.append(f"P6: the message of {record.item} has another text than was put")

    def _entity(self, _item, record):
        if record.value != "there":
            self.findings.append(f"P2: the message of {record.item} was delivered, and its entity is not there")

    def _delete_begun(self, item, _record):
        item.deletes_begun += 1

    def _deleted(self, item, record):
        item.deleted_first = record.moment if item.deleted_first is None else min(item.deleted_first, record.moment)
        self.counts["deletes"] += 1

    def _superseded(self, item, record):
        pass

    def unacknowledged(self):
        """Returns how many puts happened without an acknowledgement."""
        return sum(1 for item in self.items.values() if item.is_got and not item.is_put)

    def verdict(self, orders, done, messages_left):
        """Returns the findings so far. `orders` and `done`: the items whose entities and notes of work the store has.
        `messages_left`: the count of the queue after workers emptied it. All ledgers were taken before."""
        found = list(self.findings)
        if messages_left:
            found.append(f"P6: the queue counts {messages_left} messages, and no worker gets one")
        for name, item in self.items.items():
            found += self._verdict_on(name, item, name in orders, name in done)
        found += [f"P6: the entity of {name} is there, and no producer began it" for name in orders
                  if name not in self.items or not self.items[name].is_begun]
        return found

    @staticmethod
    def _verdict_on(name, item, has_order, is_done):
        if item.is_put and item.deletes_begun == 0:
            yield f"P1: the message of {name} was acknowledged, and is lost" + (" after a delivery" if item.is_got else "")
        if item.is_got and not item.is_begun:
            yield f"P6: the message of {name} was delivered, and no producer began it"
        if item.is_got and not has_order:
            yield f"P2: the message of {name} was delivered, and its entity is gone"
        if item.deleted_first is not None and item.asked_last > item.deleted_first:
            yield f"P3: the message of {name} was delivered after its delete was acknowledged"
        if name.startswith("e") and has_order and not item.is_got:
            yield f"P4: the entity of {name} is there, and its message is missing"
        if item.is_put and not has_order:
            yield f"P5: the entity of {name} was acknowledged, and is gone"
        if item.deleted_first is not None and not is_done:
            yield f"P5: the message of {name} was deleted, and its work is not done"
