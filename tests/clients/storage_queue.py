# Goal: the Python client library for queues, as packaged by Debian, works with this server as with the queue service.
# Method: each of its operations is used once and its result checked. The first difference ends the script with 1.
# Usage: python3 storage_queue.py TABLES-URL http://127.0.0.1:PORT/
import sys
from datetime import datetime, timedelta, timezone

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.queue import (
    AccessPolicy, AccountSasPermissions, BinaryBase64DecodePolicy, BinaryBase64EncodePolicy, CorsRule, Metrics,
    QueueClient, QueueSasPermissions, QueueServiceClient, ResourceTypes, RetentionPolicy, generate_account_sas,
    generate_queue_sas)

ACCOUNT = "devstoreaccount1"
URL = sys.argv[2] + ACCOUNT
# The public key of the development account.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
service = QueueServiceClient(URL, credential={"account_name": ACCOUNT, "account_key": KEY})
orders = service.get_queue_client("orders")


def equal(found, expected):
    if found != expected:
        raise AssertionError(f"found {found!r} where {expected!r} was expected")


class Refused:
    """The block ends with this kind of error, and with this status and code where they are given."""

    def __init__(self, kind, status=None, code=None):
        self.kind, self.status, self.code = kind, status, code

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            raise AssertionError(f"{self.kind.__name__} was expected, and it succeeded")
        equal(issubclass(kind, self.kind), True)
        if self.status:
            equal(error.status_code, self.status)
        if self.code:
            equal(getattr(error.error_code, "value", error.error_code), self.code)
        return True


def in_an_hour():
    return datetime.now(timezone.utc) + timedelta(hours=1)


def queues():
    orders.create_queue(metadata={"owner": "Ann"})
    with Refused(ResourceExistsError, 409, "QueueAlreadyExists"):
        orders.create_queue()
    for name in ("orders-eu", "orders-us", "zoo"):
        service.create_queue(name)
    equal([queue.name for queue in service.list_queues(name_starts_with="orders")], ["orders", "orders-eu", "orders-us"])
    pages = list(service.list_queues(include_metadata=True, results_per_page=3).by_page())
    first = list(pages[0])
    equal((len(first), first[0].metadata), (3, {"owner": "Ann"}))
    service.delete_queue("zoo")
    with Refused(ResourceNotFoundError, 404, "QueueNotFound"):
        service.delete_queue("zoo")
    orders.set_queue_metadata({"colour": "red"})
    found = orders.get_queue_properties()
    equal((found.metadata, found.approximate_message_count), ({"colour": "red"}, 0))


def messages():
    text = " <a> & \u00e4\U0001F600 \t\"' "
    sent = orders.send_message(text)
    (seen,) = orders.peek_messages()
    equal((seen.content, seen.dequeue_count, seen.id), (text, 0, sent.id))
    held = next(orders.receive_messages(visibility_timeout=60))
    equal((held.content, held.dequeue_count), (text, 1))
    changed = orders.update_message(held, content="changed", visibility_timeout=0)
    with Refused(ResourceNotFoundError, 404, "MessageNotFound"):
        orders.delete_message(held.id, held.pop_receipt)
    again = next(orders.receive_messages())
    equal((again.content, again.dequeue_count), ("changed", 2))
    with Refused(ResourceNotFoundError, 404, "MessageNotFound"):
        orders.delete_message(again.id, changed.pop_receipt)
    orders.delete_message(again)
    with Refused(HttpResponseError, 400):
        orders.delete_message(again.id, "junk")
    for number in range(40):
        orders.send_message(str(number))
    received = [message.content for page in orders.receive_messages(messages_per_page=32).by_page() for message in page]
    equal(received, [str(number) for number in range(40)])
    orders.clear_messages()
    forever = orders.send_message("a", time_to_live=-1, visibility_timeout=3600)
    equal(forever.expires_on.year, 9999)
    equal(list(orders.receive_messages()), [])
    with Refused(HttpResponseError, 413, "RequestBodyTooLarge"):
        orders.send_message("x" * 65537)
    orders.clear_messages()


def encoded():
    binary = QueueClient(
        URL, "orders", credential={"account_name": ACCOUNT, "account_key": KEY},
        message_encode_policy=BinaryBase64EncodePolicy(), message_decode_policy=BinaryBase64DecodePolicy())
    binary.send_message(bytes(range(256)))
    equal(next(binary.receive_messages()).content, bytes(range(256)))
    binary.clear_messages()


def signatures():
    def by(token):
        return QueueClient(URL, "orders", credential=token)

    limited = by(generate_queue_sas(
        ACCOUNT, "orders", KEY, permission=QueueSasPermissions(read=True, add=True), expiry=in_an_hour()))
    limited.send_message("by a signature")
    equal(len(limited.peek_messages()), 1)
    with Refused(HttpResponseError, 403, "AuthorizationPermissionMismatch"):
        list(limited.receive_messages())
    policy = AccessPolicy(permission=QueueSasPermissions(process=True), expiry=in_an_hour(),
                          start=datetime.now(timezone.utc) - timedelta(minutes=1))
    orders.set_queue_access_policy({"workers": policy})
    equal(orders.get_queue_access_policy()["workers"].permission, "p")
    workers = by(generate_queue_sas(ACCOUNT, "orders", KEY, policy_id="workers"))
    equal(len(list(workers.receive_messages())), 1)
    whole = QueueServiceClient(URL, credential=generate_account_sas(
        ACCOUNT, KEY, ResourceTypes(service=True, container=True, object=True),
        AccountSasPermissions.from_string("rwdlacup"), in_an_hour()))
    equal(len(list(whole.list_queues())), 3)
    orders.set_queue_access_policy({})
    with Refused(HttpResponseError, 403, "AuthenticationFailed"):
        list(workers.receive_messages())


def properties():
    kept = RetentionPolicy(enabled=True, days=7)
    service.set_service_properties(
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=kept),
        cors=[CorsRule(["https://shop.example"], ["PUT"], max_age_in_seconds=60)])
    read = service.get_service_properties()
    equal((read["hour_metrics"].retention_policy.days, read["cors"][0].allowed_methods), (7, "PUT"))


for part in (queues, messages, encoded, signatures, properties):
    part()
    print(f"{part.__name__}: ok")
orders.delete_queue()
