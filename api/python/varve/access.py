"""Access policies of tables, queues and containers, and the properties of an account's services."""
from __future__ import annotations

from datetime import datetime
from typing import Any, Callable, Iterable, NamedTuple, Optional, Sequence

from ._native import ffi, lib
from .errors import InvalidArgument, check
from .handles import _sized, _text
from .values import DateTime, text_of, texts_of, ticks_of_microseconds, time_of

_SERVICES = ("tables", "queues", "blobs")


class AccessPolicy(NamedTuple):
    """A policy that is stored under an id. A signature names the id, and supplies what the policy leaves out."""

    id: str
    #: A signature permits nothing before this time.
    start: Optional[datetime] = None
    #: A signature permits nothing from this time on.
    expiry: Optional[datetime] = None
    #: Letters of ``raud`` for a table, ``raup`` for a queue, ``racwdlt`` for a container; "" permits nothing.
    permissions: Optional[str] = None


class Logging(NamedTuple):
    """Which requests ``varve serve`` logs."""

    read: bool = False
    write: bool = False
    remove: bool = False
    #: Days to keep the logs, 1 to 365. None keeps them.
    retention_days: Optional[int] = None


class Metrics(NamedTuple):
    """Which requests ``varve serve`` counts."""

    enabled: bool = False
    #: May be true only if `enabled` is true.
    include_apis: bool = False
    #: Days to keep the figures, 1 to 365. None keeps them.
    retention_days: Optional[int] = None


class CorsRule(NamedTuple):
    """What pages from other origins may do."""

    allowed_origins: Sequence[str]
    allowed_methods: Sequence[str]
    #: Seconds for which a browser may keep the answer to a preflight request.
    max_age: int = 0
    exposed_headers: Sequence[str] = ()
    allowed_headers: Sequence[str] = ()


class ServiceProperties(NamedTuple):
    """The properties of one service of an account."""

    logging: Logging
    hour_metrics: Metrics
    minute_metrics: Metrics
    cors_rules: Sequence[CorsRule]
    #: The protocol version of anonymous requests to the blob service that name none. Empty: the newest one.
    default_version: str


def _ticks(time: datetime) -> int:
    return time.ticks if isinstance(time, DateTime) else ticks_of_microseconds(time)


def policies_array(policies: Iterable[AccessPolicy], keep: list[Any]) -> tuple[Any, int]:
    """Returns an array of varve_access_policy and its length."""
    given = list(policies)
    array = ffi.new("varve_access_policy[]", len(given))
    keep.append(array)
    for i, policy in enumerate(given):
        array[i].id = text_of(policy.id, "the id of an access policy", keep)
        for name, time in (("start", policy.start), ("expiry", policy.expiry)):
            if time is not None:
                setattr(array[i], f"has_{name}", True)
                setattr(array[i], name, _ticks(time))
        if policy.permissions is not None:
            array[i].permissions = text_of(policy.permissions, "the permissions of an access policy", keep)
    return array, len(given)


def policies_of(call: Callable[[Any], Any]) -> list[AccessPolicy]:
    """Returns the policies that `call` gives to a varve_policies."""
    made = ffi.new("varve_policies **")
    check(call(made))
    view = _sized("varve_policies_view")
    try:
        check(lib.varve_policies_read(made[0], view))
        return [_policy_of(view.policies[i]) for i in range(view.count)]
    finally:
        lib.varve_policies_free(made[0])


def _policy_of(shown: Any) -> AccessPolicy:
    return AccessPolicy(_text(shown.id) or "", time_of(shown.start) if shown.has_start else None,
                        time_of(shown.expiry) if shown.has_expiry else None, _text(shown.permissions))


def _service_number(service: str) -> int:
    if service not in _SERVICES:
        raise InvalidArgument(f"service is {service!r}; 'tables', 'queues' and 'blobs' are allowed")
    return _SERVICES.index(service)


def _give_days(to: Any, days: Optional[int]) -> None:
    if days is None:
        return
    if not 1 <= days < 2**32:
        raise InvalidArgument(f"retention_days is {days}; 1 to 365 are allowed", service_error="InvalidXmlNodeValue")
    to.retention_days = days


def _logging_struct(logging: Logging, keep: list[Any]) -> Any:
    made = ffi.new("varve_logging *", {"read": logging.read, "write": logging.write, "remove": logging.remove})
    keep.append(made)
    _give_days(made, logging.retention_days)
    return made


def _metrics_struct(metrics: Metrics, keep: list[Any]) -> Any:
    made = ffi.new("varve_metrics *", {"enabled": metrics.enabled, "include_apis": metrics.include_apis})
    keep.append(made)
    _give_days(made, metrics.retention_days)
    return made


def _rules_array(rules: Iterable[CorsRule], keep: list[Any]) -> tuple[Any, int]:
    given = list(rules)
    array = ffi.new("varve_cors_rule[]", len(given))
    keep.append(array)
    for to, rule in zip(array, given):
        to.allowed_origins, to.allowed_origin_count = texts_of(rule.allowed_origins, "allowed_origins", keep)
        to.allowed_methods, to.allowed_method_count = texts_of(rule.allowed_methods, "allowed_methods", keep)
        to.exposed_headers, to.exposed_header_count = texts_of(rule.exposed_headers, "exposed_headers", keep)
        to.allowed_headers, to.allowed_header_count = texts_of(rule.allowed_headers, "allowed_headers", keep)
        if not 0 <= rule.max_age < 2**32:
            raise InvalidArgument(f"max_age is {rule.max_age}; a number of seconds is expected")
        to.max_age_s = rule.max_age
    return array, len(given)


def set_properties(store: Any, account: str, service: str, logging: Optional[Logging], hour_metrics: Optional[Metrics],
                   minute_metrics: Optional[Metrics], cors_rules: Optional[Iterable[CorsRule]],
                   default_version: Optional[str]) -> None:
    """Replaces the properties that are not None. `store` is a varve_store."""
    keep: list[Any] = []
    change = _sized("varve_service_properties")
    if logging is not None:
        change.logging = _logging_struct(logging, keep)
    if hour_metrics is not None:
        change.hour_metrics = _metrics_struct(hour_metrics, keep)
    if minute_metrics is not None:
        change.minute_metrics = _metrics_struct(minute_metrics, keep)
    if cors_rules is not None:
        change.has_cors_rules = True
        change.cors_rules, change.cors_rule_count = _rules_array(cors_rules, keep)
    if default_version is not None:
        change.default_version = text_of(default_version, "default_version", keep)
    check(lib.varve_service_set_properties(store, text_of(account, "account", keep), _service_number(service), change))


def properties_of(store: Any, account: str, service: str) -> ServiceProperties:
    """Returns the properties of a service. `store` is a varve_store."""
    keep: list[Any] = []
    made = ffi.new("varve_properties **")
    check(lib.varve_service_properties_of(store, text_of(account, "account", keep), _service_number(service), made))
    view = _sized("varve_service_properties")
    try:
        check(lib.varve_properties_read(made[0], view))
        logging = view.logging
        rules = [_rule_of(view.cors_rules[i]) for i in range(view.cors_rule_count)]
        return ServiceProperties(
            Logging(logging.read, logging.write, logging.remove, logging.retention_days or None),
            _metrics_of(view.hour_metrics), _metrics_of(view.minute_metrics), rules, _text(view.default_version) or "")
    finally:
        lib.varve_properties_free(made[0])


def _metrics_of(shown: Any) -> Metrics:
    return Metrics(shown.enabled, shown.include_apis, shown.retention_days or None)


def _rule_of(shown: Any) -> CorsRule:
    def texts(array: Any, count: int) -> list[str]:
        return [_text(array[i]) or "" for i in range(count)]

    return CorsRule(texts(shown.allowed_origins, shown.allowed_origin_count),
                    texts(shown.allowed_methods, shown.allowed_method_count), shown.max_age_s,
                    texts(shown.exposed_headers, shown.exposed_header_count),
                    texts(shown.allowed_headers, shown.allowed_header_count))
