# Goal: the Python client library for blobs, as packaged by Debian, works with this server as with the blob service.
# Method: each of its operations that the server has is used and its result checked; operations that the server leaves out
# are refused. The first difference ends the script with 1.
# Usage: python3 storage_blob.py TABLES-URL QUEUES-URL http://127.0.0.1:PORT/
import socket
import sys
from datetime import datetime, timedelta, timezone

from azure.core import MatchConditions
from azure.core.exceptions import (
    HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError)
from azure.storage.blob import (
    AccessPolicy, AccountSasPermissions, BlobBlock, BlobClient, BlobSasPermissions, BlobServiceClient, ContainerClient,
    ContainerSasPermissions, ContentSettings, CorsRule, Metrics, ResourceTypes, RetentionPolicy,
    StandardBlobTier, generate_account_sas, generate_blob_sas, generate_container_sas)

ACCOUNT = "devstoreaccount1"
URL = sys.argv[3] + ACCOUNT
# The public key of the development account.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
CREDENTIAL = {"account_name": ACCOUNT, "account_key": KEY}
service = BlobServiceClient(URL, credential=CREDENTIAL)
photos = service.get_container_client("photos")


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
        if not issubclass(kind, self.kind):
            return False
        if self.status:
            equal(error.status_code, self.status)
        if self.code:
            equal(getattr(error.error_code, "value", error.error_code), self.code)
        return True


def resolve(host, *others, **named):
    """Every name in the domain localhost is this machine. Not every resolver knows that."""
    return resolved("127.0.0.1" if str(host).endswith(".localhost") else host, *others, **named)


resolved, socket.getaddrinfo = socket.getaddrinfo, resolve


def in_an_hour():
    return datetime.now(timezone.utc) + timedelta(hours=1)


def varied(size):
    return bytes((i * 31 + (i >> 12)) & 255 for i in range(size))


def read(name, **options):
    return photos.download_blob(name, **options).readall()


def containers():
    photos.create_container(metadata={"owner": "Ann"})
    with Refused(ResourceExistsError, 409, "ContainerAlreadyExists"):
        photos.create_container()
    equal((photos.exists(), service.get_container_client("absent").exists()), (True, False))
    for name in ("photos-eu", "photos-us", "zoo"):
        service.create_container(name)
    equal([one.name for one in service.list_containers(name_starts_with="photos")], ["photos", "photos-eu", "photos-us"])
    pages = list(service.list_containers(include_metadata=True, results_per_page=3).by_page())
    first = list(pages[0])
    equal((len(first), first[0].metadata), (3, {"owner": "Ann"}))
    service.delete_container("zoo")
    with Refused(ResourceNotFoundError, 404, "ContainerNotFound"):
        service.delete_container("zoo")
    photos.set_container_metadata({"colour": "red"})
    found = photos.get_container_properties()
    equal((found.metadata, found.lease.state, found.public_access), ({"colour": "red"}, "available", None))


def contents():
    name = "eu/a b \u00e4.txt"
    blob = photos.get_blob_client(name)
    put = blob.upload_blob(b"hello", metadata={"a": "1"}, tags={"year": "2026"},
                           content_settings=ContentSettings(content_type="text/plain", content_language="en"))
    got = blob.download_blob()
    equal((got.properties.etag, got.properties.metadata, got.properties.size), (put["etag"], {"a": "1"}, 5))
    equal((got.properties.content_settings.content_type, got.readall()), ("text/plain", b"hello"))
    with Refused(ResourceExistsError, 409, "BlobAlreadyExists"):
        blob.upload_blob(b"x")
    blob.upload_blob(b"hello", overwrite=True, content_settings=ContentSettings(content_type="text/plain"))
    with Refused(ResourceModifiedError, 412, "ConditionNotMet"):
        blob.upload_blob(b"x", overwrite=True, etag=put["etag"], match_condition=MatchConditions.IfNotModified)
    with Refused(ResourceNotFoundError, 404, "BlobNotFound"):
        read("absent")
    equal((blob.exists(), photos.get_blob_client("absent").exists()), (True, False))
    empty = photos.get_blob_client("empty")
    empty.upload_blob(b"")
    equal((empty.download_blob().readall(), empty.get_blob_properties().size), (b"", 0))


def ranges():
    content = varied(300_000)
    photos.upload_blob("ranges", content)
    equal(read("ranges", offset=0, length=1), content[:1])
    equal(read("ranges", offset=65_530, length=20), content[65_530:65_550])
    equal(read("ranges", offset=299_990, length=100), content[299_990:])
    equal(read("ranges", offset=1000, length=1000, validate_content=True), content[1000:2000])
    with Refused(HttpResponseError, 416, "InvalidRange"):
        read("ranges", offset=300_000, length=1)


def states():
    blob = photos.get_blob_client("states")
    blob.upload_blob(b"content")
    blob.set_blob_metadata({"b": "2"})
    blob.set_http_headers(ContentSettings(content_type="image/png", cache_control="no-store"))
    blob.set_standard_blob_tier(StandardBlobTier.Cool)
    blob.set_blob_tags({"place": "New York"})
    found = blob.get_blob_properties()
    equal((found.metadata, found.content_settings.content_type, found.content_settings.cache_control, found.blob_tier),
          ({"b": "2"}, "image/png", "no-store", "Cool"))
    equal((found.tag_count, blob.get_blob_tags()), (1, {"place": "New York"}))
    blob.delete_blob()
    with Refused(ResourceNotFoundError, 404, "BlobNotFound"):
        blob.delete_blob()


def large():
    content = varied(3_000_000)
    client = ContainerClient(URL, "photos", credential=CREDENTIAL, max_single_put_size=1 << 20, max_block_size=1 << 20,
                             max_single_get_size=1 << 20, max_chunk_get_size=1 << 20)
    blob = client.get_blob_client("large")
    blob.upload_blob(content, max_concurrency=3)
    equal(len(blob.get_block_list("all")[0]), 3)
    equal(blob.download_blob(max_concurrency=3).readall() == content, True)
    equal(b"".join(blob.download_blob().chunks()) == content, True)
    blob.upload_blob(iter([content[:1_500_000], content[1_500_000:]]), overwrite=True)  # of unknown length
    equal(read("large") == content, True)


def blocks():
    blob = photos.get_blob_client("blocks")
    for id, text in (("0001", b"one "), ("0002", b"two "), ("0003", b"three")):
        blob.stage_block(id, text)
    committed, staged = blob.get_block_list("all")
    equal((committed, sorted(block.id for block in staged)), ([], ["0001", "0002", "0003"]))
    blob.commit_block_list([BlobBlock("0002"), BlobBlock("0001"), BlobBlock("0003")], metadata={"a": "1"})
    equal((read("blocks"), blob.get_blob_properties().metadata), (b"two one three", {"a": "1"}))
    blob.stage_block("0004", b" four")
    blob.commit_block_list([BlobBlock("0001"), BlobBlock("0004")])
    equal(read("blocks"), b"one  four")
    with Refused(HttpResponseError, 400, "InvalidBlockList"):
        blob.commit_block_list([BlobBlock("0009")])


def appends():
    log = photos.get_blob_client("log")
    log.create_append_blob()
    equal(log.append_block(b"one\n")["blob_append_offset"], "0")
    equal(log.append_block(b"two\n", appendpos_condition=4)["blob_committed_block_count"], 2)
    with Refused(HttpResponseError, 412, "AppendPositionConditionNotMet"):
        log.append_block(b"x", appendpos_condition=3)
    with Refused(HttpResponseError, 412, "MaxBlobSizeConditionNotMet"):
        log.append_block(b"x", maxsize_condition=8)
    equal((read("log"), log.get_blob_properties().append_blob_committed_block_count), (b"one\ntwo\n", 2))
    photos.upload_blob("log2", b"whole", blob_type="AppendBlob")
    equal(read("log2"), b"whole")


def leases():
    blob = photos.get_blob_client("leased")
    blob.upload_blob(b"1")
    lease = blob.acquire_lease(15)
    with Refused(HttpResponseError, 412, "LeaseIdMissing"):
        blob.upload_blob(b"2", overwrite=True)
    blob.upload_blob(b"2", overwrite=True, lease=lease)
    lease.renew()
    lease.change("11111111-2222-3333-4444-555555555555")
    equal(lease.id, "11111111-2222-3333-4444-555555555555")
    with Refused(ResourceExistsError, 409, "LeaseAlreadyPresent"):
        blob.acquire_lease(15)
    lease.release()
    held = photos.acquire_lease(-1)
    with Refused(HttpResponseError, 412, "LeaseIdMissing"):
        photos.delete_container()
    equal(held.break_lease(0), 0)


def listings():
    for name in ("l/a", "l/eu/1", "l/eu/2", "l/us/1"):
        photos.upload_blob(name, b"x", metadata={"n": name[-1]})
    flat = [(one.name, one.metadata["n"], one.size) for one in photos.list_blobs("l/", include=["metadata"])]
    equal(flat, [("l/a", "a", 1), ("l/eu/1", "1", 1), ("l/eu/2", "2", 1), ("l/us/1", "1", 1)])
    folded = [one.name for one in photos.walk_blobs("l/")]
    equal(sorted(folded), ["l/a", "l/eu/", "l/us/"])
    pages = [list(page) for page in photos.list_blobs("l/", results_per_page=3).by_page()]
    equal([len(page) for page in pages], [3, 1])
    photos.get_blob_client("uncommitted").stage_block("0001", b"x")
    names = [one.name for one in photos.list_blobs("u", include=["uncommittedblobs"])]
    equal((names, list(photos.list_blobs("u"))), (["uncommitted"], []))


def copies():
    source = photos.get_blob_client("source")
    source.upload_blob(b"content of a source", metadata={"a": "1"})
    copy = photos.get_blob_client("copy")
    equal(copy.start_copy_from_url(source.url)["copy_status"], "success")
    found = copy.get_blob_properties()
    equal((found.metadata, found.copy.status, read("copy")), ({"a": "1"}, "success", b"content of a source"))
    equal(copy.start_copy_from_url(source.url, requires_sync=True)["copy_status"], "success")
    with Refused(HttpResponseError, 404):
        copy.start_copy_from_url(photos.get_blob_client("absent").url)
    with Refused(HttpResponseError):
        copy.start_copy_from_url("http://127.0.0.1:9/account/photos/a")
    parts = photos.get_blob_client("parts")
    parts.stage_block_from_url("0001", source.url, source_offset=0, source_length=7)
    parts.commit_block_list([BlobBlock("0001")])
    equal(read("parts"), b"content")
    log = photos.get_blob_client("log-of-parts")
    log.create_append_blob()
    log.append_block_from_url(source.url, source_offset=8, source_length=4)
    equal(read("log-of-parts"), b"of a")
    photos.get_blob_client("from-url").upload_blob_from_url(source.url)
    equal(read("from-url"), b"content of a source")


def signatures():
    photos.upload_blob("signed.txt", b"hello")
    reading = generate_blob_sas(ACCOUNT, "photos", "signed.txt", account_key=KEY, permission=BlobSasPermissions(read=True),
                                expiry=in_an_hour(), content_type="image/gif")
    got = BlobClient(URL, "photos", "signed.txt", credential=reading).download_blob()
    equal((got.readall(), got.properties.content_settings.content_type), (b"hello", "image/gif"))
    with Refused(HttpResponseError, 403, "AuthenticationFailed"):
        BlobClient(URL, "photos", "log", credential=reading).download_blob()
    with Refused(HttpResponseError, 403, "AuthorizationPermissionMismatch"):
        BlobClient(URL, "photos", "signed.txt", credential=reading).delete_blob()
    policy = AccessPolicy(permission=ContainerSasPermissions(read=True, list=True), expiry=in_an_hour(),
                          start=datetime.now(timezone.utc) - timedelta(minutes=1))
    photos.set_container_access_policy({"readers": policy})
    equal(photos.get_container_access_policy()["signed_identifiers"][0].id, "readers")
    readers = ContainerClient(URL, "photos", credential=generate_container_sas(
        ACCOUNT, "photos", account_key=KEY, policy_id="readers"))
    equal(readers.download_blob("signed.txt").readall(), b"hello")
    equal([one.name for one in readers.list_blobs("signed")], ["signed.txt"])
    with Refused(HttpResponseError, 403, "AuthorizationPermissionMismatch"):
        readers.upload_blob("new", b"x")
    whole = BlobServiceClient(URL, credential=generate_account_sas(
        ACCOUNT, KEY, ResourceTypes(service=True, container=True, object=True),
        AccountSasPermissions.from_string("rwdlacup"), in_an_hour()))
    equal(len(list(whole.list_containers(name_starts_with="photos"))), 3)
    whole.get_container_client("photos").upload_blob("by-account", b"1")
    photos.set_container_access_policy({})
    with Refused(HttpResponseError, 403, "AuthenticationFailed"):
        readers.download_blob("signed.txt")
    wrong = BlobServiceClient(URL, credential={"account_name": ACCOUNT, "account_key": "AAAA" + KEY[4:]})
    with Refused(HttpResponseError, 403, "AuthenticationFailed"):
        list(wrong.list_containers())


def batches():
    # In path style the library leaves the account out of the paths of a batch's parts, so this is host style.
    photos_by_host = ContainerClient(f"http://{ACCOUNT}.blob.localhost:{URL.split(':')[2].split('/')[0]}", "photos",
                                     credential=CREDENTIAL)
    names = ["b/1", "b/2", "b/3"]
    for name in names:
        photos_by_host.upload_blob(name, b"x")
    equal([part.status_code for part in photos_by_host.set_standard_blob_tier_blobs("Cool", *names)], [200, 200, 200])
    equal(photos.get_blob_client("b/1").get_blob_properties().blob_tier, "Cool")
    photos.delete_blob("b/2")
    answers = [part.status_code for part in photos_by_host.delete_blobs(*names, raise_on_any_failure=False)]
    equal(answers, [202, 404, 202])


def left_out():
    blob = photos.get_blob_client("signed.txt")
    with Refused(HttpResponseError, 501, "NotImplemented"):
        blob.create_snapshot()
    with Refused(HttpResponseError, 501, "NotImplemented"):
        photos.get_blob_client("pages").create_page_blob(512)
    with Refused(HttpResponseError, 501, "NotImplemented"):
        list(service.find_blobs_by_tags("\"year\"='2026'"))
    with Refused(ResourceNotFoundError, 404, "BlobNotFound"):
        photos.get_blob_client("signed.txt", snapshot="2026-01-01T00:00:00.0000000Z").download_blob()


def properties():
    kept = RetentionPolicy(enabled=True, days=7)
    service.set_service_properties(
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=kept),
        cors=[CorsRule(["https://shop.example"], ["PUT"], max_age_in_seconds=60)])
    found = service.get_service_properties()
    equal((found["hour_metrics"].retention_policy.days, found["cors"][0].allowed_methods), (7, "PUT"))
    equal(service.get_account_information()["account_kind"], "StorageV2")


for part in (containers, contents, ranges, states, large, blocks, appends, leases, listings, copies, signatures, batches,
             left_out, properties):
    part()
    print(f"{part.__name__}: ok")
photos.delete_container()
equal(photos.exists(), False)
