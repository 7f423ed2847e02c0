# Owns: the module varve._native: the functions of varve/c.h, compiled against that header and linked statically.
# Must never: repeat a declaration of the header. It reads them from the file, so the two cannot differ.
import os
import re

import cffi

INCLUDE = os.environ["VARVE_INCLUDE"]  # the directory that holds varve/c.h
LIBRARY = os.environ["VARVE_LIBRARY"]  # libvarve.a


def declarations(header: str) -> str:
    """Returns the declarations of the header, without comments and preprocessor lines."""
    body = header[header.index("\n// -- Errors"):header.rindex("\n#ifdef __cplusplus")]
    body = re.sub(r"//.*", "", body)
    body = re.sub(r"^#.*$", "", body, flags=re.MULTILINE)
    return body.replace("VARVE_API ", "").replace("VARVE_FORMAT_BYTES", "64")


ffi = cffi.FFI()
with open(os.path.join(INCLUDE, "varve", "c.h"), encoding="utf-8") as file:
    ffi.cdef(declarations(file.read()))
ffi.set_source("varve._native", '#include "varve/c.h"\n', include_dirs=[INCLUDE], extra_objects=[LIBRARY],
               libraries=["uring", "xxhash", "zstd", "stdc++"],
               extra_link_args=["-Wl,--exclude-libs,ALL"])
