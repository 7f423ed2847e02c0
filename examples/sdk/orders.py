# SPDX-License-Identifier: Apache-2.0
# Owns: the use of a served store from Python, with the unmodified SDK of Azure Tables (Debian's python3-azure).
# Must never: know Varve. Only the address is that of `varve serve`.
#
# Usage: python3 orders.py http://127.0.0.1:PORT/
import sys

from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import ResourceExistsError
from azure.data.tables import TableServiceClient

# The development account, which `varve serve` has unless other accounts are given. Its key is public.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

service = TableServiceClient(sys.argv[1] + ACCOUNT, credential=AzureNamedKeyCredential(ACCOUNT, KEY))
orders = service.create_table_if_not_exists("PythonOrders")
orders.create_entity({"PartitionKey": "eu", "RowKey": "0001", "Customer": "Ann", "Total": 12.5})
orders.submit_transaction([
    ("create", {"PartitionKey": "eu", "RowKey": "0002", "Customer": "Bob", "Total": 99.5}),
    ("update", {"PartitionKey": "eu", "RowKey": "0001", "Paid": True}, {"mode": "merge"})])
try:
    orders.create_entity({"PartitionKey": "eu", "RowKey": "0002"})
except ResourceExistsError as error:
    print("refused:", error.status_code)
for order in orders.query_entities("PartitionKey eq 'eu' and Total ge @low", parameters={"low": 10.5}):
    print(order["RowKey"], order["Customer"], order["Total"], str(order.get("Paid", False)).lower())
