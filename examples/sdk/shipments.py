# SPDX-License-Identifier: Apache-2.0
# Owns: the use of a served queue from Python, with the unmodified SDK of Azure Queues (Debian's python3-azure).
# Must never: know Varve. Only the address is that of `varve serve --listen-queues`.
#
# Usage: python3 shipments.py http://127.0.0.1:PORT/
import sys

from azure.core.exceptions import ResourceNotFoundError
from azure.storage.queue import QueueServiceClient

# The development account, which `varve serve` has unless other accounts are given. Its key is public.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

service = QueueServiceClient(sys.argv[1] + ACCOUNT, credential={"account_name": ACCOUNT, "account_key": KEY})
shipments = service.create_queue("python-shipments")
for order in ("0001", "0002"):
    shipments.send_message(order)

# A consumer holds a message while it works. If it fails, it gives the message back at once.
first = next(shipments.receive_messages(visibility_timeout=300))
print("delivery", first.dequeue_count, "of", first.content)
shipments.update_message(first.id, first.pop_receipt, content=first.content, visibility_timeout=0)
try:
    shipments.delete_message(first.id, first.pop_receipt)  # its receipt is no longer the last one
except ResourceNotFoundError as error:
    print("refused:", error.status_code)
received = list(shipments.receive_messages(messages_per_page=32, visibility_timeout=300))
for message in sorted(received, key=lambda one: one.content):
    print("delivery", message.dequeue_count, "of", message.content)
    shipments.delete_message(message)
print("left:", shipments.get_queue_properties().approximate_message_count)
