"""Varve: an embeddable store for the table data model.

    import varve

    with varve.open("/var/lib/orders", create=True) as store:
        store.create_account("shop")
        orders = store.create_table("shop", "Orders")
        orders.insert(varve.Entity("eu", "0001", Customer="Ann", Total=12.5))
        for order in orders.scan("Total gt @low", parameters={"low": 10.0}, partition="eu"):
            print(order.row_key, order["Customer"])

docs/python.md of the source introduces the package.
"""
from ._native import ffi as _ffi, lib as _lib
from . import aio, errors
from .access import AccessPolicy, CorsRule, Logging, Metrics, ServiceProperties
from .blobs import (AppendedBlock, BlobPrefix, BlobProperties, BlobReader, BlobState, BlobTail, BlobWriter, Block, BlockLists,
                    Container, ContainerState)
from .errors import (Busy, Cancelled, Closed, Conflict, Corruption, Exists, Fenced, Forbidden, InvalidArgument, IoError,
                     Locked, NoSpace, NotFound, OutOfMemory, Poisoned, PreconditionFailed, ReadOnly, RequestError,
                     StoreError, TakenValue, TooLarge, TooManyFiles, Unknown, Unsupported, VarveError)
from .filters import literal
from .indexes import Index, UnbuiltIndex, WhereProgress
from .large_values import LargeValueReader, LargeValueWriter, OpenedEntity
from .leases import Lease
from .listening import Health
from .options import Limits, Resources
from .queues import NEVER, Message, Queue, QueueFigures, Receipt, SentMessage
from .store import (AggregateRow, GroupTransaction, IndexCandidate, Loader, Page, Plan, Report, Scan, Snapshot, Store, Table,
                    TableExpiry, Transaction, repair, verify)
from .values import DateTime, ETag, Entity, Int64, LargeValue, Value

#: The version of the library that this package holds.
__version__: str = _ffi.string(_lib.varve_version()).decode()

#: Opens a store: another name of :class:`Store`.
open = Store

__all__ = [
    "AccessPolicy", "AggregateRow", "AppendedBlock", "BlobPrefix", "BlobProperties", "BlobReader", "BlobState",
    "BlobTail", "BlobWriter", "Block", "BlockLists", "Busy", "Cancelled", "Closed", "Conflict", "Container",
    "ContainerState", "Corruption", "CorsRule", "DateTime", "ETag", "Entity", "Exists", "Fenced", "Forbidden",
    "GroupTransaction", "Health", "Index", "IndexCandidate", "Int64", "InvalidArgument", "IoError", "LargeValue",
    "LargeValueReader", "LargeValueWriter", "Lease", "Limits", "Loader", "Locked", "Logging", "Message", "Metrics",
    "NEVER", "NoSpace", "NotFound", "OpenedEntity", "OutOfMemory", "Page", "Plan", "Poisoned", "PreconditionFailed",
    "Queue", "QueueFigures", "ReadOnly", "Receipt", "Report", "RequestError", "Resources", "Scan", "SentMessage",
    "ServiceProperties", "Snapshot", "Store", "StoreError", "Table", "TableExpiry", "TakenValue", "TooLarge",
    "TooManyFiles", "Transaction", "UnbuiltIndex", "Unknown", "Unsupported", "Value", "VarveError", "WhereProgress",
    "aio", "errors", "literal", "open", "repair", "verify",
]
