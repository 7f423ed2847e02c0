# Goal: the Python client library, as packaged by Debian, works with this server as with the table service.
# Method: each of its operations is used once and its result checked. The first difference ends the script with 1.
# Usage: python3 data_tables.py http://127.0.0.1:PORT/
import json
import socket
import sys
from datetime import datetime, timedelta, timezone
from uuid import UUID

from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import (
    ClientAuthenticationError, HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError)
from azure.data.tables import (
    AccountSasPermissions, EdmType, EntityProperty, RequestTooLargeError, ResourceTypes, TableAccessPolicy,
    TableAnalyticsLogging, TableClient, TableCorsRule, TableMetrics, TableRetentionPolicy, TableSasPermissions,
    TableServiceClient, TableTransactionError, UpdateMode, generate_account_sas, generate_table_sas)

ACCOUNT = "devstoreaccount1"
URL = sys.argv[1] + ACCOUNT
# The public key of the development account.
KEY = AzureNamedKeyCredential(ACCOUNT, "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==")
service = TableServiceClient(URL, credential=KEY)
table = service.get_table_client("Orders")


def equal(found, expected):
    if found != expected:
        raise AssertionError(f"found {found!r} where {expected!r} was expected")


def code_of(error):
    code = getattr(error, "error_code", None) or json.loads(error.response.text())["odata.error"]["code"]
    return getattr(code, "value", code)


class Refused:
    """The block ends with this kind of error, and with this status and code where they are given."""

    def __init__(self, kind, status=None, code=None):
        self.kind, self.status, self.code, self.error = kind, status, code, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            raise AssertionError(f"{self.kind.__name__} was expected, and it succeeded")
        equal(kind.__name__, self.kind.__name__)
        if self.status:
            equal(error.status_code, self.status)
        if self.code:
            equal(code_of(error), self.code)
        self.error = error
        return True


def row(number):
    return f"{number:04d}"


def order(partition, row_key, **properties):
    return {"PartitionKey": partition, "RowKey": row_key, **properties}


def tables():
    service.create_table("Orders")
    with Refused(ResourceExistsError, 409, "TableAlreadyExists"):
        service.create_table("Orders")
    equal(service.create_table_if_not_exists("Orders").table_name, "Orders")
    service.create_table("Other")
    equal([found.name for found in service.list_tables()], ["Orders", "Other"])
    equal([found.name for found in service.list_tables(results_per_page=1)], ["Orders", "Other"])
    by_name = service.query_tables("TableName eq @name", parameters={"name": "Other"})
    equal([found.name for found in by_name], ["Other"])
    with Refused(HttpResponseError):
        service.create_table("a-b")
    service.delete_table("Other")
    service.delete_table("Other")  # the client passes over "there is none"
    with Refused(ResourceNotFoundError, 404, "TableNotFound"):
        service.get_table_client("Other").create_entity(order("p", "r"))


def types():
    sent = order(
        "eu", "O'B n%", customer="Änn 😀", lines=3, weight=2.5, whole=4.0, paid=True,
        serial=EntityProperty(123456789012, EdmType.INT64), due=datetime(2026, 3, 3, 10, 20, 30, 123456, timezone.utc),
        token=bytes([0, 1, 2, 255]), none=None,
        id=UUID("0f1e2d3c-0000-4000-8000-00000000abcd"), least=EntityProperty(-2**63, EdmType.INT64), most=float("inf"),
        small=EntityProperty(7, EdmType.INT32), ticks=EntityProperty("2026-03-03T10:20:30.1234567Z", EdmType.DATETIME))
    answer = table.create_entity(sent)
    found = table.get_entity("eu", sent["RowKey"])
    equal(found.metadata["etag"], answer["etag"])
    assert abs(found.metadata["timestamp"] - datetime.now(timezone.utc)) < timedelta(minutes=5)
    for name in ("PartitionKey", "RowKey", "customer", "lines", "weight", "whole", "paid", "serial", "due", "token", "id",
                 "least", "most"):
        equal(found[name], sent[name])
    equal([type(found[name]) for name in ("whole", "lines", "paid")], [float, int, bool])
    equal(found["small"], 7)
    equal(found["ticks"].tables_service_value, "2026-03-03T10:20:30.1234567Z")
    assert "none" not in found
    table.upsert_entity(found, UpdateMode.REPLACE)  # as it was read
    again = table.get_entity("eu", sent["RowKey"])
    equal(dict(again), dict(found))
    equal(again["ticks"].tables_service_value, found["ticks"].tables_service_value)
    table.upsert_entity(order("eu", "nan", value=float("nan")))
    assert table.get_entity("eu", "nan")["value"] != table.get_entity("eu", "nan")["value"]
    table.delete_entity("eu", "nan")
    equal(set(table.get_entity("eu", sent["RowKey"], select=["lines", "paid"])), {"lines", "paid"})


def writes():
    first = table.create_entity(order("eu", "1", a=1, b=2))
    with Refused(ResourceExistsError, 409, "EntityAlreadyExists"):
        table.create_entity(order("eu", "1"))
    held = table.get_entity("eu", "1")
    table.update_entity(order("eu", "1", a=3), UpdateMode.MERGE, etag=first["etag"],
                        match_condition=MatchConditions.IfNotModified)
    with Refused(ResourceModifiedError, 412, "UpdateConditionNotSatisfied"):
        table.update_entity(held, UpdateMode.REPLACE, match_condition=MatchConditions.IfNotModified)
    merged = table.get_entity("eu", "1")
    equal((merged["a"], merged["b"]), (3, 2))
    table.update_entity(order("eu", "1", a=5), UpdateMode.REPLACE)
    equal(dict(table.get_entity("eu", "1")), order("eu", "1", a=5))
    with Refused(ResourceNotFoundError, 404, "ResourceNotFound"):
        table.update_entity(order("eu", "absent"), UpdateMode.MERGE)
    table.upsert_entity(order("eu", "2", a=1), UpdateMode.REPLACE)
    table.upsert_entity(order("eu", "2", b=2), UpdateMode.MERGE)
    equal(dict(table.get_entity("eu", "2")), order("eu", "2", a=1, b=2))
    with Refused(ResourceModifiedError, 412, "UpdateConditionNotSatisfied"):
        table.delete_entity("eu", "2", etag=first["etag"], match_condition=MatchConditions.IfNotModified)
    table.delete_entity(table.get_entity("eu", "2"), match_condition=MatchConditions.IfNotModified)
    table.delete_entity("eu", "2")  # the client passes over "there is none"
    with Refused(ResourceNotFoundError, 404, "ResourceNotFound"):
        table.get_entity("eu", "2")
    with Refused(HttpResponseError, 400, "PropertyValueTooLarge"):
        table.create_entity(order("eu", "large", text="x" * 32_769))
    with Refused(HttpResponseError, 400, "TooManyProperties"):
        table.create_entity(order("eu", "wide", **{f"p{number}": number for number in range(253)}))


def transactions():
    for batch in range(12):
        rows = range(batch * 100, batch * 100 + 100)
        answers = table.submit_transaction([("create", order("us", row(number), n=number % 100)) for number in rows])
        equal(len(answers), 100)
        assert all(answer["etag"] for answer in answers)
    with Refused(TableTransactionError, 409, "EntityAlreadyExists") as refusal:
        table.submit_transaction([("create", order("us", "fresh")), ("create", order("us", row(1)))])
    equal(refusal.error.index, 1)
    with Refused(ResourceNotFoundError, 404):
        table.get_entity("us", "fresh")
    answers = table.submit_transaction([
        ("update", order("us", row(0), n=-1), {"mode": UpdateMode.REPLACE}),
        ("update", order("us", row(1), m=1), {"mode": UpdateMode.MERGE}),
        ("upsert", order("us", row(2), n=-1), {"mode": UpdateMode.REPLACE}),
        ("upsert", order("us", "extra", n=-1)),
        ("delete", order("us", row(3)))])
    equal(len(answers), 5)
    equal(dict(table.get_entity("us", row(1))), order("us", row(1), n=1, m=1))
    stale = {"etag": "W/\"datetime'2020-01-01T00%3A00%3A00.0000000Z'\"", "match_condition": MatchConditions.IfNotModified}
    with Refused(TableTransactionError, 412, "UpdateConditionNotSatisfied") as refusal:
        table.submit_transaction([("delete", order("us", "extra")), ("update", order("us", row(0), n=9), stale)])
    equal(refusal.error.index, 1)
    equal(table.get_entity("us", "extra")["n"], -1)
    with Refused(TableTransactionError, 400, "InvalidDuplicateRow") as refusal:
        table.submit_transaction([("upsert", order("us", "twice")), ("upsert", order("us", "twice"))])
    equal(refusal.error.index, 1)
    with Refused(TableTransactionError, 400, "InvalidInput"):
        table.submit_transaction([("upsert", order("us", row(number))) for number in range(101)])
    with Refused(RequestTooLargeError, 413, "RequestBodyTooLarge"):
        large = {"text": "x" * 30_000, "more": "y" * 30_000}
        table.submit_transaction([("upsert", order("us", row(number), **large)) for number in range(80)])
    equal(table.get_entity("us", row(1))["m"], 1)


def queries():
    pages = [list(page) for page in table.list_entities(results_per_page=500).by_page()]
    equal([len(page) for page in pages], [500, 500, 202])  # 1,200 of the transactions, one more, one less, two of "eu"
    equal(len(list(table.list_entities())), 1202)  # by the service's own pages of 1,000
    parameters = {"partition": "us", "n": 7}
    found = list(table.query_entities("PartitionKey eq @partition and n eq @n", parameters=parameters, select=["RowKey", "n"]))
    equal([dict(entity) for entity in found], [{"RowKey": row(batch * 100 + 7), "n": 7} for batch in range(12)])
    by_type = {"text": "Änn 😀", "due": datetime(2026, 3, 3, 10, tzinfo=timezone.utc),
               "id": UUID("0f1e2d3c-0000-4000-8000-00000000abcd"), "serial": 123456789012,
               "weight": 2.5, "paid": True, "token": bytes([0, 1, 2, 255])}
    condition = ("customer eq @text and due gt @due and id eq @id and serial eq @serial and weight le @weight and paid eq @paid "
                 "and token eq @token")
    # The client splits a filter at spaces, so a text stays whole only as a parameter.
    equal([entity["RowKey"] for entity in table.query_entities(condition, parameters=by_type)], ["O'B n%"])
    paging = table.list_entities(results_per_page=3).by_page()
    equal([entity["RowKey"] for entity in next(paging)], ["1", "O'B n%", row(0)])
    following = table.list_entities(results_per_page=3).by_page(continuation_token=paging.continuation_token)
    equal([entity["RowKey"] for entity in next(following)], [row(1), row(2), row(4)])
    equal(list(table.query_entities("PartitionKey eq 'none'")), [])
    with Refused(HttpResponseError, 400, "InvalidInput"):
        list(table.query_entities("PartitionKey eq"))


def signatures():
    hour = datetime.now(timezone.utc) + timedelta(hours=1)

    def by_sas(sas):
        return TableClient(URL, "Orders", credential=AzureSasCredential(sas))

    reader = by_sas(generate_table_sas(KEY, "Orders", permission=TableSasPermissions(read=True), expiry=hour))
    equal(reader.get_entity("eu", "1")["a"], 5)
    with Refused(HttpResponseError, 403, "AuthorizationPermissionMismatch"):
        reader.delete_entity("eu", "1")
    ranged = by_sas(generate_table_sas(KEY, "Orders", permission=TableSasPermissions(read=True), expiry=hour,
                                       start_pk="us", start_rk=row(10), end_pk="us", end_rk=row(12)))
    equal([entity["RowKey"] for entity in ranged.list_entities()], [row(10), row(11), row(12)])

    def tables_by(types):
        listing = generate_account_sas(KEY, types, AccountSasPermissions(list=True, read=True), hour)
        return [found.name for found in TableServiceClient(URL, credential=AzureSasCredential(listing)).list_tables()]

    # The library names no containers, but passes on the letter. Its comment counts listings as of the service, which
    # the service itself refuses.
    equal(tables_by(ResourceTypes.from_string("c")), ["Orders"])
    with Refused(HttpResponseError, 403, "AuthorizationResourceTypeMismatch"):
        tables_by(ResourceTypes(service=True, object=True))

    policy = TableAccessPolicy(expiry=hour, start=hour - timedelta(hours=2), permission="raud")
    table.set_table_access_policy({"writers": policy, "empty": None})
    policies = table.get_table_access_policy()
    equal(sorted(policies), ["empty", "writers"])
    equal(policies["empty"], None)
    equal(policies["writers"].permission, "raud")
    equal(policies["writers"].expiry, hour.replace(microsecond=policies["writers"].expiry.microsecond))
    writer = by_sas(generate_table_sas(KEY, "Orders", policy_id="writers"))
    writer.delete_entity("eu", "1")
    with Refused(ValueError):  # its own words, of the server's refusal of a sixth
        table.set_table_access_policy({f"p{number}": policy for number in range(6)})
    table.set_table_access_policy({})
    equal(table.get_table_access_policy(), {})
    with Refused(ClientAuthenticationError, 403, "AuthenticationFailed"):
        writer.get_entity("us", row(0))
    wrong = AzureNamedKeyCredential(ACCOUNT, "d3Jvbmcga2V5")
    with Refused(ClientAuthenticationError, 403, "AuthenticationFailed"):
        TableClient(URL, "Orders", credential=wrong).get_entity("us", row(0))


def properties():
    initial = service.get_service_properties()
    equal(initial["analytics_logging"].read, False)
    equal(initial["hour_metrics"].enabled, False)
    equal(initial["cors"], [])
    kept = TableRetentionPolicy(enabled=True, days=7)
    rule = TableCorsRule(["https://shop.example"], ["GET", "POST"], allowed_headers=["x-ms-*", "content-type"],
                         exposed_headers=["x-ms-*"], max_age_in_seconds=300)
    service.set_service_properties(
        analytics_logging=TableAnalyticsLogging(write=True, retention_policy=kept),
        hour_metrics=TableMetrics(enabled=True, include_apis=True, retention_policy=kept), cors=[rule])
    changed = service.get_service_properties()
    logging, metrics, (found,) = changed["analytics_logging"], changed["hour_metrics"], changed["cors"]
    equal((logging.read, logging.write, logging.retention_policy.days), (False, True, 7))
    equal((metrics.enabled, metrics.include_apis, metrics.retention_policy.days), (True, True, 7))
    equal((found.allowed_origins, found.allowed_methods), (["https://shop.example"], ["GET", "POST"]))
    equal((found.allowed_headers, found.max_age_in_seconds), (["x-ms-*", "content-type"], 300))
    with Refused(HttpResponseError, 400):
        service.set_service_properties(cors=[rule] * 6)
    as_read = {name: initial[name] for name in ("analytics_logging", "hour_metrics")}
    service.set_service_properties(**as_read)
    equal(service.get_service_properties()["analytics_logging"].write, False)


def secondary():
    # Uses host names, because this client builds a wrong address of the secondary if the account is in the path.
    by_number = socket.getaddrinfo
    socket.getaddrinfo = lambda name, *rest, **named: by_number("127.0.0.1", *rest, **named)
    port = sys.argv[1].rstrip("/").rpartition(":")[2]
    by_name = TableServiceClient(f"http://{ACCOUNT}.table.core.localhost:{port}", credential=KEY)
    equal(by_name.get_service_stats()["geo_replication"]["status"], "live")
    equal([found.name for found in by_name.list_tables()], ["Orders"])
    socket.getaddrinfo = by_number


for part in (tables, types, writes, transactions, queries, signatures, properties, secondary):
    part()
    print(f"{part.__name__}: ok")
service.delete_table("Orders")
