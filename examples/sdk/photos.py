# SPDX-License-Identifier: Apache-2.0
# Owns: the use of served blobs from Python, with the unmodified SDK of Azure Blobs (Debian's python3-azure).
# Must never: know Varve. Only the address is that of `varve serve --listen-blobs`.
#
# Usage: python3 photos.py http://127.0.0.1:PORT/
import sys
from datetime import datetime, timedelta, timezone

from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import (
    BlobClient, BlobPrefix, BlobSasPermissions, BlobServiceClient, ContentSettings, generate_blob_sas)

# The development account, which `varve serve` has unless other accounts are given. Its key is public.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

service = BlobServiceClient(sys.argv[1] + ACCOUNT, credential={"account_name": ACCOUNT, "account_key": KEY})
photos = service.create_container("python-photos")
ann = photos.get_blob_client("eu/ann.jpg")
ann.upload_blob(bytes(i % 251 for i in range(1_000_000)), content_settings=ContentSettings(content_type="image/jpeg"))
print("bytes 500000 to 500003:", *ann.download_blob(offset=500_000, length=4).readall())
try:
    ann.upload_blob(b"x")  # only creates
except ResourceExistsError as error:
    print("refused:", error.status_code)
log = photos.get_blob_client("seen.log")
log.create_append_blob()
for line in ("Ann\n", "Bob\n"):
    log.append_block(line)
print("log:", *log.download_blob().readall().decode().split())

# This URL lets its holder read the one blob for an hour, without the key.
signature = generate_blob_sas(ACCOUNT, "python-photos", "eu/ann.jpg", account_key=KEY,
                              permission=BlobSasPermissions(read=True),
                              expiry=datetime.now(timezone.utc) + timedelta(hours=1))
shared = BlobClient.from_blob_url(f"{ann.url}?{signature}").get_blob_properties()
print("shared:", shared.content_settings.content_type, shared.size)
for entry in photos.walk_blobs():
    print("prefix" if isinstance(entry, BlobPrefix) else "blob", entry.name)
