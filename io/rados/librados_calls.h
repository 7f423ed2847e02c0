// Owns: the functions of Ceph's client library that the door uses, found when the first store on Ceph is opened.
// Must never: need Ceph where Varve is built, or load the library for a store on a local disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>

#include "varve/result.h"

namespace varve::io {

/// The library's handles. Only the library looks at what they point to.
using RadosCluster = void*;
using RadosContext = void*;  // a pool with a namespace and a snapshot sequence
using RadosWrite = void*;    // a change that is being built
using RadosRead = void*;
using RadosCompletion = void*;
using RadosList = void*;  // an iterator of attributes or of entries

/// The functions of librados' C interface, with its names without the prefix `rados_`. A function that returns an int
/// returns a negative errno if it fails. All of them may be called by any thread.
struct LibradosCalls {
  int (*create2)(RadosCluster* cluster, const char* cluster_name, const char* user, std::uint64_t flags);
  int (*conf_read_file)(RadosCluster cluster, const char* path);
  int (*conf_parse_env)(RadosCluster cluster, const char* variable);
  int (*conf_set)(RadosCluster cluster, const char* option, const char* value);
  int (*conf_get)(RadosCluster cluster, const char* option, char* buffer, std::size_t size);
  int (*connect)(RadosCluster cluster);
  void (*shutdown)(RadosCluster cluster);
  int (*getaddrs)(RadosCluster cluster, char** addresses);
  int (*mon_command)(RadosCluster cluster, const char** commands, std::size_t count, const char* input,
                     std::size_t input_size, char** output, std::size_t* output_size, char** state,
                     std::size_t* state_size);
  void (*buffer_free)(char* buffer);
  int (*blocklist_add)(RadosCluster cluster, char* client, std::uint32_t seconds);

  int (*ioctx_create)(RadosCluster cluster, const char* pool, RadosContext* context);
  void (*ioctx_destroy)(RadosContext context);
  void (*ioctx_set_namespace)(RadosContext context, const char* name);
  int (*ioctx_selfmanaged_snap_create)(RadosContext context, std::uint64_t* id);
  int (*ioctx_selfmanaged_snap_set_write_ctx)(RadosContext context, std::uint64_t sequence, std::uint64_t* snapshots,
                                              int count);

  RadosWrite (*create_write_op)();
  void (*release_write_op)(RadosWrite write);
  void (*write_op_assert_exists)(RadosWrite write);
  void (*write_op_create)(RadosWrite write, int exclusive, const char* category);
  void (*write_op_cmpxattr)(RadosWrite write, const char* name, std::uint8_t comparison, const char* value,
                            std::size_t size);
  void (*write_op_setxattr)(RadosWrite write, const char* name, const char* value, std::size_t size);
  void (*write_op_write)(RadosWrite write, const char* bytes, std::size_t size, std::uint64_t offset);
  void (*write_op_set_alloc_hint2)(RadosWrite write, std::uint64_t object_size, std::uint64_t write_size,
                                   std::uint32_t flags);
  void (*write_op_remove)(RadosWrite write);
  void (*write_op_omap_set)(RadosWrite write, const char* const* keys, const char* const* values,
                            const std::size_t* sizes, std::size_t count);
  void (*write_op_omap_rm_keys)(RadosWrite write, const char* const* keys, std::size_t count);
  int (*write_op_operate)(RadosWrite write, RadosContext context, const char* object, std::time_t* time, int flags);
  int (*aio_write_op_operate)(RadosWrite write, RadosContext context, RadosCompletion completion, const char* object,
                              std::time_t* time, int flags);

  RadosRead (*create_read_op)();
  void (*release_read_op)(RadosRead read);
  void (*read_op_stat)(RadosRead read, std::uint64_t* size, std::time_t* time, int* result);
  void (*read_op_getxattrs)(RadosRead read, RadosList* list, int* result);
  void (*read_op_omap_get_vals2)(RadosRead read, const char* after, const char* prefix, std::uint64_t count_max,
                                 RadosList* list, unsigned char* has_more, int* result);
  int (*read_op_operate)(RadosRead read, RadosContext context, const char* object, int flags);
  int (*getxattrs_next)(RadosList list, const char** name, const char** value, std::size_t* size);
  void (*getxattrs_end)(RadosList list);
  int (*omap_get_next2)(RadosList list, char** key, char** value, std::size_t* key_size, std::size_t* value_size);
  void (*omap_get_end)(RadosList list);
  int (*read)(RadosContext context, const char* object, char* bytes, std::size_t size, std::uint64_t offset);
  int (*aio_create_completion2)(void* argument, void (*done)(RadosCompletion, void*), RadosCompletion* completion);
  int (*aio_get_return_value)(RadosCompletion completion);
  void (*aio_release)(RadosCompletion completion);
  int (*aio_read)(RadosContext context, const char* object, RadosCompletion completion, char* bytes, std::size_t size,
                  std::uint64_t offset);
  int (*aio_cancel)(RadosContext context, RadosCompletion completion);
};

/// The library's file name, which the system's loader looks for.
inline constexpr const char* kLibradosFile = "librados.so.2";

/// Loads the library into the process, where it stays, and finds its functions. Errors: kUnsupported (the library is
/// absent or lacks a function; the message says what to install).
Result<LibradosCalls> load_librados(const char* file = kLibradosFile);

}  // namespace varve::io
