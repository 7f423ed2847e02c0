# Owns: the module varve._native: the functions of varve/c.h and varve/c_rados.h, compiled against these headers and linked
# statically. Ceph's client library is loaded when an address is opened.
# Must never: repeat a declaration of a header. It reads them from the files, so the two cannot differ.
import os
import re

import cffi

INCLUDE = os.environ["VARVE_INCLUDE"]  # the directory that holds varve/c.h
LIBRARY = os.environ["VARVE_LIBRARY"]  # libvarve.a
CEPH_INCLUDE = os.environ["VARVE_CEPH_INCLUDE"]  # the directory that holds varve/c_rados.h
CEPH_LIBRARY = os.environ["VARVE_CEPH_LIBRARY"]  # libvarve_ceph.a


def declarations(header: str) -> str:
    """Returns the declarations of the header, without comments and preprocessor lines."""
    body = header[header.index("\n// -- "):header.rindex("\n#ifdef __cplusplus")]
    body = re.sub(r"//.*", "", body)
    body = re.sub(r"^#.*$", "", body, flags=re.MULTILINE)
    return body.replace("VARVE_API ", "").replace("VARVE_FORMAT_BYTES", "64")


ffi = cffi.FFI()
for header in (os.path.join(INCLUDE, "varve", "c.h"), os.path.join(CEPH_INCLUDE, "varve", "c_rados.h")):
    with open(header, encoding="utf-8") as file:
        ffi.cdef(declarations(file.read()))
ffi.set_source("varve._native", '#include "varve/c_rados.h"\n', include_dirs=[INCLUDE, CEPH_INCLUDE],
               extra_objects=[CEPH_LIBRARY, LIBRARY],
               libraries=["uring", "xxhash", "zstd", "stdc++"],
               extra_link_args=["-Wl,--exclude-libs,ALL"])
