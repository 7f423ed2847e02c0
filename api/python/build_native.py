# Owns: the module varve._native: the functions of varve/c.h and varve/c_rados.h, compiled against these headers and linked
# statically. It also passes the log lines and changes of health of stores to Python. Ceph's client library is loaded when an
# address is opened.
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


# Functions of Python that threads of a store call. A thread that waited for the interpreter's lock would not survive the
# interpreter's end, so none begins a call after py_stop_listening(), which waits for those that run.
LISTENING_DECLARATIONS = """
extern "Python" void py_log(varve_text store_path, varve_text line, void* listener);
extern "Python" void py_health(varve_text store_path, int32_t health, const varve_status* cause, void* listener);
void py_listen(varve_resource_options* options, uintptr_t listener, bool wants_log, bool wants_health);
void py_stop_listening(void);
void py_listen_in_child(void);
"""
LISTENING = """
#include <pthread.h>

static void py_log(varve_text store_path, varve_text line, void* listener);
static void py_health(varve_text store_path, int32_t health, const varve_status* cause, void* listener);

static pthread_rwlock_t py_listening = PTHREAD_RWLOCK_INITIALIZER;

static void py_pass_log(varve_text store_path, varve_text line, void* listener) {
  if (pthread_rwlock_tryrdlock(&py_listening) != 0) return;
  py_log(store_path, line, listener);
  pthread_rwlock_unlock(&py_listening);
}

static void py_pass_health(varve_text store_path, int32_t health, const varve_status* cause, void* listener) {
  if (pthread_rwlock_tryrdlock(&py_listening) != 0) return;
  py_health(store_path, health, cause, listener);
  pthread_rwlock_unlock(&py_listening);
}

static void py_listen(varve_resource_options* options, uintptr_t listener, bool wants_log, bool wants_health) {
  if (wants_log) options->log = py_pass_log;
  if (wants_health) options->health = py_pass_health;
  options->context = (void*)listener;
}

static void py_stop_listening(void) { pthread_rwlock_wrlock(&py_listening); }

/* A thread of the parent may have held the lock at the fork. It does not exist in the child. */
static void py_listen_in_child(void) { pthread_rwlock_init(&py_listening, NULL); }
"""

ffi = cffi.FFI()
for header in (os.path.join(INCLUDE, "varve", "c.h"), os.path.join(CEPH_INCLUDE, "varve", "c_rados.h")):
    with open(header, encoding="utf-8") as file:
        ffi.cdef(declarations(file.read()))
ffi.cdef(LISTENING_DECLARATIONS)
ffi.set_source("varve._native", '#include "varve/c_rados.h"\n' + LISTENING, include_dirs=[INCLUDE, CEPH_INCLUDE],
               extra_objects=[CEPH_LIBRARY, LIBRARY],
               libraries=["uring", "xxhash", "zstd", "stdc++"],
               extra_link_args=["-Wl,--exclude-libs,ALL"])
