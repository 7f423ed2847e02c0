# Owns: the cases that C++, C and Python must all pass, generated over kinds: types, keys, conditions, transactions, scans.
# Must never: take an expectation from an implementation. Each expectation is written here from tests/spec_rules.txt.
#
# Usage: python3 tests/conformance/generate.py    rewrites tests/conformance/*.jsonl
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
OK, INVALID, LARGE, MISSING, EXISTS = "Ok", "InvalidArgument", "TooLarge", "NotFound", "Exists"


def step(do, **fields):
    return {"do": do, **fields}


def refused(code, error=""):
    return {"code": code, "error": error}


def write(do, pk="p", rk="r", props=(), match=None, **expected):
    made = step(do, pk=pk, rk=rk, props=[list(one) for one in props], **expected)
    if match:
        made["match"] = match
    return made


def get(found, pk="p", rk="r", **more):
    return step("get", pk=pk, rk=rk, found=None if found is None else [list(one) for one in found], **more)


def types():
    good = {
        "binary": ["", "00", "ff00ff", "@repeat:ab:65536"],
        "boolean": ["true", "false"],
        "datetime": ["1601-01-01T00:00:00Z", "2026-03-03T10:20:30.1234567Z", "9999-12-31T23:59:59.9999999Z",
                     "1970-01-01T00:00:00Z"],
        "double": ["0.0", "-0.0", "1.5", "1.7976931348623157e308", "5e-324", "NaN", "Infinity", "-Infinity", "1e21"],
        "guid": ["00000000-0000-0000-0000-000000000000", "01234567-89ab-cdef-0123-456789abcdef",
                 "ffffffff-ffff-ffff-ffff-ffffffffffff"],
        "int32": ["0", "-1", "2147483647", "-2147483648"],
        "int64": ["0", "-1", "2147483648", "9223372036854775807", "-9223372036854775808"],
        "string": ["", "text", "\u00e4\u20ac\U0001f600", "a\u0000b", "line\nend\t", "'quoted'", "@repeat:x:32768",
                   "@repeat:\U0001f600:16384"],
    }
    for kind, values in good.items():
        for number, value in enumerate(values):
            prop = ("V", kind, value)
            yield f"{kind} {number} comes back", [write("insert", props=[prop]), get([prop])]
    bad = [("string", "@repeat:x:32769", LARGE, "PropertyValueTooLarge"),
           ("string", "@repeat:\U0001f600:16385", LARGE, "PropertyValueTooLarge"),
           ("binary", "@repeat:ab:65537", LARGE, "PropertyValueTooLarge"),
           ("string", "@bytes:ff", INVALID, "InvalidInput"), ("string", "@bytes:c3", INVALID, "InvalidInput"),
           ("string", "@bytes:eda080", INVALID, "InvalidInput")]
    for number, (kind, value, code, error) in enumerate(bad):
        for verb in ("insert", "insert_or_merge"):
            yield f"{verb} refuses {kind} {number}", [
                write(verb, props=[("V", kind, value)], **refused(code, error)), get(None)]
    yield "a merge changes the type", [
        write("insert", props=[("A", "int32", "1"), ("B", "string", "b")]),
        write("merge", props=[("A", "string", "one"), ("C", "boolean", "true")], match="any"),
        get([("A", "string", "one"), ("B", "string", "b"), ("C", "boolean", "true")])]
    yield "252 properties fit", [write("insert", props=[("@many", "int32", "252")])]
    yield "253 properties do not", [
        write("insert", props=[("@many", "int32", "253")], **refused(LARGE, "TooManyProperties"))]


def names_and_keys():
    for name, code, error in (("A", OK, ""), ("_x", OK, ""), ("\u00e4", OK, ""), ("1a", INVALID, "PropertyNameInvalid"),
                              ("a-b", INVALID, "PropertyNameInvalid"), ("", INVALID, "PropertyNameInvalid"),
                              ("@repeat:n:255", OK, ""), ("@repeat:n:256", LARGE, "PropertyNameTooLong"),
                              ("PartitionKey", INVALID, "DuplicateKeyPropertySpecified"),
                              ("RowKey", INVALID, "DuplicateKeyPropertySpecified"),
                              ("@bytes:ff", INVALID, "InvalidInput")):
        if name in ("PartitionKey", "RowKey"):
            continue  # Python reads these names in a mapping as the keys
        yield f"property name {name[:12]!r}", [write("insert", props=[(name, "int32", "1")], code=code, error=error)]
    for key, code, error in (("", OK, ""), (" ", OK, ""), ("\u00e4", OK, ""), ("@repeat:k:1024", OK, ""),
                             ("@repeat:k:1025", LARGE, "PropertyValueTooLarge"), ("a/b", INVALID, "OutOfRangeInput"),
                             ("a\\b", INVALID, "OutOfRangeInput"), ("a#b", INVALID, "OutOfRangeInput"),
                             ("a?b", INVALID, "OutOfRangeInput"), ("a\tb", INVALID, "OutOfRangeInput"),
                             ("a\u0000b", INVALID, "OutOfRangeInput"), ("a\u007fb", INVALID, "OutOfRangeInput"),
                             ("a\u0085b", INVALID, "OutOfRangeInput"), ("@bytes:ff", INVALID, "InvalidInput")):
        for side in ("pk", "rk"):
            yield f"{side} {key[:12]!r}", [write("insert", **{side: key}, code=code, error=error)]
    for key in ("a/b", "a\\b"):
        yield f"a replace of {key!r} is refused otherwise", [
            write("replace", rk=key, match="any", **refused(INVALID, "InvalidInput"))]
    yield "a key that is too long is not found", [
        get(None, rk="@repeat:k:1025"),
        step("remove", pk="p", rk="@repeat:k:1025", match="any", **refused(MISSING, "ResourceNotFound"))]
    for name, code, error in (("abc", OK, ""), ("ab", INVALID, "OutOfRangeInput"), ("1abc", INVALID, "InvalidResourceName"),
                              ("a-bc", INVALID, "InvalidResourceName"), ("tables", INVALID, "InvalidInput"),
                              ("@repeat:t:63", OK, ""), ("@repeat:t:64", INVALID, "OutOfRangeInput")):
        yield f"table name {name[:12]!r}", [step("create_table", name=name, code=code, error=error)]
    for name, code, error in (("abc", OK, ""), ("ab", INVALID, "InvalidResourceName"), ("Abc", INVALID, "InvalidResourceName"),
                              ("@repeat:a:24", OK, ""), ("@repeat:a:25", INVALID, "InvalidResourceName")):
        yield f"account name {name[:12]!r}", [step("create_account", name=name, code=code, error=error),
                                              *([step("drop_account", name=name)] if code == OK else [])]
    yield "table names ignore case", [
        step("create_table", name="Mixed"), step("create_table", name="MIXED", **refused(EXISTS, "TableAlreadyExists")),
        step("drop_table", name="mixed"), step("drop_table", name="mixed", **refused(MISSING, "ResourceNotFound")),
        step("open_table", name="Mixed", **refused(MISSING, "TableNotFound"))]


A, B = ("A", "int32", "1"), ("B", "int32", "2")


def conditions():
    stale = refused("PreconditionFailed", "UpdateConditionNotSatisfied")
    for verb in ("replace", "merge", "remove"):
        for match, expected in (("any", refused(OK)), ("last", refused(OK)), ("first", stale), ("foreign", stale),
                                ("none", refused(INVALID, "InvalidInput"))):
            survives = expected["code"] != OK
            after = None if verb == "remove" else [B] if verb == "replace" else [A, B]
            yield f"{verb} if {match}", [
                write("insert", props=[A]), write("merge", props=[A], match="any"),
                write(verb, props=[] if verb == "remove" else [B], match=match, **expected),
                get([A] if survives else after)]
        for match in ("any", "foreign"):
            yield f"{verb} if {match} of nothing", [
                write(verb, match=match, **refused(MISSING, "ResourceNotFound")), get(None)]
    for verb, after in (("replace", [B]), ("merge", [A, B]), ("remove", None)):
        props = [] if verb == "remove" else [B]
        for condition, expected in (("A eq 1", refused(OK)), ("", refused(OK)), ("exists(A) and not (B eq 2)", refused(OK)),
                                    ("A gt 1 or B eq 2", refused("PreconditionFailed", "ConditionNotMet")),
                                    ("A eq", refused(INVALID, "InvalidInput"))):
            for match in ("any", "last"):
                yield f"{verb} if {match} and only if {condition!r}", [
                    write("insert", props=[A]), write(verb, props=props, match=match, only_if=condition, **expected),
                    get([A] if expected["code"] != OK else after)]
        yield f"{verb} only if true of nothing", [
            write(verb, props=props, match="any", only_if="true", **refused(MISSING, "ResourceNotFound")), get(None)]
    yield "insert of what exists", [write("insert", props=[A]),
                                    write("insert", props=[B], **refused(EXISTS, "EntityAlreadyExists")), get([A])]
    for verb, after in (("insert_or_replace", [B]), ("insert_or_merge", [A, B])):
        yield f"{verb} of nothing", [write(verb, props=[B]), get([B])]
        yield f"{verb} of what exists", [write("insert", props=[A]), write(verb, props=[B]), get(after)]
    yield "a removed entity can be inserted again", [
        write("insert", props=[A]), step("remove", pk="p", rk="r", match="last"), write("insert", props=[B]),
        write("replace", props=[A], match="first", **stale), get([B])]
    yield "a read selects names", [
        write("insert", props=[A, B]), get([B], select=["B", "C"]), get([], select=["C"]), get([A, B], select=[])]
    yield "many keys keep their order", [
        write("insert", rk="1"), write("insert", rk="2"),
        step("get_many", keys=[["p", "2"], ["p", "0"], ["p", "1"], ["p", "2"]], found=[True, False, True, True])]


def operation(kind, rk="r", pk="p", props=(), match="any", **more):
    return {"kind": kind, "pk": pk, "rk": rk, "props": [list(one) for one in props], "match": match, **more}


def transactions():
    def fails(name, operations, code, error, index, before=()):
        expected = {"code": code, "error": error}
        if index is not None:
            expected["index"] = index
        return f"a group with {name}", [*before, step("execute", operations=operations, **expected),
                                        step("scan", rows=["p/r"] if before else [])]

    insert = [operation("insert", rk=str(number)) for number in range(3)]
    yield "a group of three", [step("execute", operations=insert), step("scan", rows=["p/0", "p/1", "p/2"])]
    yield "a group of every kind", [
        write("insert", rk="a", props=[A]), write("insert", rk="b", props=[A]), write("insert", rk="c", props=[A]),
        step("execute", operations=[operation("insert", rk="d", props=[A]), operation("replace", rk="a", props=[B]),
                                    operation("merge", rk="b", props=[B]), operation("remove", rk="c"),
                                    operation("insert_or_replace", rk="e", props=[B]),
                                    operation("insert_or_merge", rk="f", props=[B])]),
        get([B], rk="a"), get([A, B], rk="b"), get(None, rk="c"), get([A], rk="d"), get([B], rk="e"), get([B], rk="f")]
    exists = [write("insert", props=[A])]
    for index in range(3):
        group = list(insert)
        group[index] = operation("insert")
        yield fails(f"an entity that exists at {index}", group, EXISTS, "EntityAlreadyExists", index, exists)
        group[index] = operation("remove", rk="none")
        yield fails(f"a missing entity at {index}", group, MISSING, "ResourceNotFound", index)
        group[index] = operation("merge", match="foreign")
        yield fails(f"another ETag at {index}", group, "PreconditionFailed", "UpdateConditionNotSatisfied", index, exists)
        group[index] = operation("insert", rk="a#b")
        yield fails(f"a bad key at {index}", group, INVALID, "OutOfRangeInput", index)
        group[index] = operation("replace", match="none")
        yield fails(f"no condition at {index}", group, INVALID, "InvalidInput", index, exists)
    yield fails("two partitions", [insert[0], operation("insert", pk="q")], INVALID,
                "CommandsInBatchActOnDifferentPartitions", 1)
    yield fails("one entity twice", [*insert, operation("insert_or_merge", rk="1")], INVALID, "InvalidDuplicateRow", 3)
    yield fails("no operations", [], INVALID, "InvalidInput", None)
    hundred = [operation("insert", rk=f"{number:03d}") for number in range(101)]
    yield "a group of 100", [step("execute", operations=hundred[:100]), step("count", count=100)]
    yield fails("101 operations", hundred, INVALID, "InvalidInput", 99)
    large = [operation("insert", rk=str(number), props=[("V", "string", "@repeat:x:32768")] * 1) for number in range(2)]
    yield "a group of large values", [step("execute", operations=large), step("scan", rows=["p/0", "p/1"])]

    unmet = {"code": "PreconditionFailed", "error": "ConditionNotMet", "index": 1}
    for verb, props, after in (("replace", [B], [B]), ("merge", [B], [A, B]), ("remove", [], None)):
        for is_met in (True, False):
            writes = [operation("insert", rk="new", props=[A]),
                      operation(verb, props=props, only_if="A eq 1" if is_met else "A eq 2")]
            expected = {} if is_met else unmet
            left = [get(after if is_met else [A]), get([A] if is_met else None, rk="new")]
            name = f"a {verb} whose condition is {'met' if is_met else 'not met'}"
            yield f"a group with {name}", [
                write("insert", props=[A]), step("execute", operations=writes, **expected), *left]
            yield f"a store transaction with {name}", [
                write("insert", props=[A]), step("begin"), *(step("add", operation=one) for one in writes),
                step("commit", **expected), *left]
    yield "a store transaction over partitions", [
        step("begin"), step("add", operation=operation("insert", pk="a")),
        step("add", operation=operation("insert", pk="b")), step("commit"), step("scan", rows=["a/r", "b/r"])]
    yield "a store transaction whose read changed", [
        write("insert", props=[A]), step("begin"), step("read", keys=[["p", "r"]], found=[True]),
        write("merge", props=[B], match="any"), step("add", operation=operation("insert", pk="q")),
        step("commit", **refused("Conflict")), step("scan", rows=["p/r"])]
    yield "a store transaction whose missing read appeared", [
        step("begin"), step("read", keys=[["p", "r"]], found=[False]), write("insert", props=[B]),
        step("add", operation=operation("insert", pk="q")), step("commit", **refused("Conflict")), step("scan", rows=["p/r"])]
    for kind in (dict(range="partition"), dict(range="row_prefix", start="r"), dict(range="rows", start="r", end="s")):
        for change in (write("insert", rk="r2", props=[B]), write("merge", props=[B], match="any"),
                       write("remove", match="any")):
            yield f"a store transaction whose {kind['range']} changed by {change['do']}", [
                write("insert", props=[A]), step("begin"), step("check", partition="p", rows=["p/r"], **kind), change,
                step("add", operation=operation("insert", pk="q")), step("commit", **refused("Conflict"))]
    yield "a store transaction whose range stays", [
        write("insert", props=[A]), step("begin"), step("check", range="partition", partition="p", rows=["p/r"]),
        write("insert", pk="o", props=[B]), step("add", operation=operation("insert", rk="r2")), step("commit"),
        step("scan", rows=["o/r", "p/r", "p/r2"])]
    yield "a store transaction that checks all partitions", [
        step("begin"), step("check", **refused(INVALID, "InvalidInput")), step("commit")]
    yield "a store transaction with a write that fails", [
        step("begin"), step("add", operation=operation("insert", pk="a")), step("add", operation=operation("remove", pk="b")),
        step("commit", code=MISSING, error="ResourceNotFound", index=1), step("scan", rows=[])]
    yield "a store transaction that ended", [
        step("begin"), step("add", operation=operation("insert")), step("commit"),
        step("commit", **refused(INVALID, "InvalidInput")), step("scan", rows=["p/r"])]


def scans():
    rows = [("a", "1", 1), ("a", "2", 2), ("a", "3", 3), ("b", "1", 4), ("b", "10", 5), ("b", "2", 6), ("c", "1", 7)]
    fill = [write("insert", pk=pk, rk=rk, props=[("N", "int32", str(n)), ("S", "string", f"s{n}"), ("L", "int64", str(n)),
                                                 ("D", "double", f"{n}.5"), ("E", "boolean", str(n % 2 == 0).lower())])
            for pk, rk, n in rows]
    all_rows = [f"{pk}/{rk}" for pk, rk, _ in rows]

    def scan(name, expected, **fields):
        return f"scan: {name}", [*fill, step("scan", rows=expected, **fields),
                                 *([step("count", count=len(expected), **fields)])]

    def numbered(*wanted):
        return [f"{pk}/{rk}" for pk, rk, n in rows if n in wanted]

    yield scan("all", all_rows)
    yield scan("backward", all_rows[::-1], backward=True)
    yield scan("a partition", numbered(4, 5, 6), range="partition", partition="b")
    yield scan("an empty partition", [], range="partition", partition="x")
    yield scan("rows", numbered(4, 5), range="rows", partition="b", start="1", end="2")
    yield scan("rows without an end", numbered(5, 6), range="rows", partition="b", start="10")
    yield scan("rows backward", numbered(5, 4)[::-1][::-1] and ["b/10", "b/1"], range="rows", partition="b", start="1",
               end="2", backward=True)
    yield scan("rows upside down", [], range="rows", partition="b", start="2", end="1")
    yield scan("a prefix", numbered(4, 5), range="row_prefix", partition="b", start="1")
    yield scan("partitions", numbered(4, 5, 6), range="partitions", start="b", end="c")
    yield scan("partitions without an end", numbered(4, 5, 6, 7), range="partitions", start="b")
    for size in (1, 2, 3, 7, 1000):
        yield scan(f"pages of {size}", all_rows, page_size=size)
        yield scan(f"pages of {size} backward with a limit", all_rows[::-1][:5], page_size=size, take=5, backward=True)
    for take in (0, 1, 6, 7, 8):
        yield scan(f"a limit of {take}", all_rows[:take], take=take)
    filters = [
        ("N eq 3", (3,)), ("N ne 3", (1, 2, 4, 5, 6, 7)), ("N gt 5", (6, 7)), ("N ge 5", (5, 6, 7)), ("N lt 2", (1,)),
        ("N le 2", (1, 2)), ("L eq 3L", (3,)), ("L gt 6", (7,)), ("D gt 6.0", (6, 7)), ("D eq 1.5", (1,)), ("E", None),
        ("E eq true", (2, 4, 6)), ("not (E eq true)", (1, 3, 5, 7)), ("S eq 's4'", (4,)), ("S gt 's5'", (6, 7)),
        ("N eq 1 or N eq 7", (1, 7)), ("N gt 2 and N lt 5", (3, 4)), ("N gt 2 and (N lt 4 or E eq true)", (3, 4, 6)),
        ("PartitionKey eq 'b'", (4, 5, 6)), ("PartitionKey eq 'b' and RowKey eq '10'", (5,)),
        ("PartitionKey gt 'a'", (4, 5, 6, 7)), ("RowKey eq '1'", (1, 4, 7)),
        ("PartitionKey eq 'a' or PartitionKey eq 'c'", (1, 2, 3, 7)), ("PartitionKey eq 'a' and PartitionKey eq 'b'", ()),
        ("Missing eq 1", ()), ("not (Missing eq 1)", (1, 2, 3, 4, 5, 6, 7)), ("", (1, 2, 3, 4, 5, 6, 7)),
        ("   ", (1, 2, 3, 4, 5, 6, 7)), ("N eq 3 ", (3,)), ("startswith(S, 's1')", (1,)), ("endswith(S,'4')", (4,)),
        ("contains(S, '5')", (5,)), ("equals_ignoring_case(S, 'S3')", (3,)), ("exists(Missing)", ()),
        ("not exists(Missing) and exists(N)", (1, 2, 3, 4, 5, 6, 7)), ("contains(N, '1')", ()),
        ("N in (2, 4L, '6')", (2,)), ("L in (2, 4L, '6')", (2, 4)), ("startswith(RowKey, '1')", (1, 4, 5, 7)),
        ("PartitionKey in ('c','a') and RowKey in ('1')", (1, 7)), ("L eq N", (1, 2, 3, 4, 5, 6, 7)), ("N eq L", ()),
        ("N lt L and D gt N and S gt PartitionKey", (1, 2, 3, 4, 5, 6, 7))]
    for text, wanted in filters:
        if wanted is not None:
            yield scan(f"filter {text!r}", numbered(*wanted), filter=text)
            yield scan(f"filter {text!r} in pages of one, backward", numbered(*wanted)[::-1], filter=text, page_size=1,
                       backward=True)
    for text in ("N eq", "N eq 1 and", "(N eq 1", "N = 1", "'a", "N eq 1)", "eq 1 N", "@bytes:ff",
                 "startswith(S, 5)", "N in ()"):
        yield f"scan: refused {text!r}", [step("scan", filter=text, **refused(INVALID, "InvalidInput"))]
    for order, wanted in (("N desc", (7, 6, 5, 4, 3, 2, 1)), ("E,L desc", (7, 5, 3, 1, 6, 4, 2)),
                          ("RowKey desc,PartitionKey", (3, 2, 6, 5, 1, 4, 7)), ("Missing", (1, 2, 3, 4, 5, 6, 7))):
        ordered = [all_rows[n - 1] for n in wanted]
        for size in (1, 3, 7):
            yield f"scan: ordered by {order!r} in pages of {size}", [
                *fill, step("scan", rows=ordered, order_by=order, page_size=size),
                step("scan", rows=ordered[:5], order_by=order, page_size=size, take=5)]
    for text in ("N up", ",", "A,B,C,D,E", "N,N desc"):
        yield f"scan: refused order {text!r}", [step("scan", order_by=text, **refused(INVALID, "InvalidInput"))]
    for text in ("tolower(S) eq 's'", "N add 1 eq 2", "1 eq 1"):
        yield f"scan: unsupported {text!r}", [step("scan", filter=text, **refused("Unsupported", "NotImplemented"))]
    yield "scan: a page that is too large", [step("scan", page_size=1001, **refused(INVALID, "InvalidInput"))]
    yield "scan: no token", [step("scan", continuation="nothing", **refused(INVALID, "InvalidInput"))]


def access():
    mismatch = refused("Forbidden", "AuthorizationPermissionMismatch")
    outside = refused("Forbidden", "AuthorizationFailure")
    for letters in ("r", "a", "u", "d", "ra", "raud", ""):
        def may(need):
            return {} if all(letter in letters for letter in need) else mismatch
        yield f"access: {letters!r}", [
            write("insert", props=[A]), step("restrict", permissions=letters),
            write("insert", rk="new", **may("a")), write("replace", props=[B], match="any", **may("u")),
            write("insert_or_merge", props=[A], **may("au")),
            step("remove", pk="p", rk="r", match="any", **may("d"))]
    yield "access: an interval", [
        write("insert", rk="1"), write("insert", rk="2"), write("insert", rk="3"), write("insert", pk="q", rk="1"),
        step("restrict", permissions="ra", start=["p", "2"], end=["p"]), step("scan", rows=["p/2", "p/3"]),
        step("get", pk="p", rk="1", found=None, **outside), write("insert", rk="0", **outside), write("insert", rk="4"),
        step("count", count=3)]


def texts():
    etag = "W/\"datetime'2026-03-03T10%3A20%3A30.4767Z'\""
    for what, text, out in (
            ("etag", "*", "*"), ("etag", etag, etag), ("etag", etag.replace("W", "w"), etag),
            ("etag", etag.replace("%3A", ":"), etag), ("etag", "other", None), ("etag", "W/\"a\"b\"", None), ("etag", "", None),
            ("datetime", "2026-03-03T10:20:30.5+01:00", "2026-03-03T09:20:30.5Z"),
            ("datetime", "2026-03-03T10:20:30.12345678Z", "2026-03-03T10:20:30.1234567Z"),
            ("datetime", "2026-02-29T00:00:00Z", None), ("datetime", "yesterday", None),
            ("datetime", "1600-12-31T23:59:59Z", None), ("datetime", "2024-02-29T00:00:00", "2024-02-29T00:00:00Z"),
            ("guid", "0123456789ABCDEF0123456789ABCDEF", "01234567-89ab-cdef-0123-456789abcdef"),
            ("guid", "{01234567-89ab-cdef-0123-456789abcdef}", "01234567-89ab-cdef-0123-456789abcdef"),
            ("guid", "01234567", None), ("guid", "g1234567-89ab-cdef-0123-456789abcdef", None)):
        expected = {"out": out} if out is not None else refused(INVALID, "OutOfRangeInput" if text[:4] == "1600" else "InvalidInput")
        yield f"{what} {text!r}", [step("parse", what=what, text=text, **expected)]


for kinds in (types, names_and_keys, conditions, transactions, scans, access, texts):
    with open(os.path.join(HERE, kinds.__name__ + ".jsonl"), "w", encoding="ascii") as file:
        for name, steps in kinds():
            file.write(json.dumps({"case": name, "steps": steps}) + "\n")
