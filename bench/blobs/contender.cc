#include "bench/blobs/contender.h"

namespace varve::bench {

Status BlobContender::write_stream(const std::string& /*name*/, std::uint64_t /*bytes*/) {
  return Status::unsupported("a content is written from one piece of memory");
}

Status BlobContender::forget() {
  return Status::unsupported("cold reads are not part of the race for this peer");
}

Status BlobContender::read_stream(const std::string& /*name*/, std::uint64_t /*bytes*/) {
  return Status::unsupported("a content is read into one piece of memory");
}

Status BlobContender::append(int /*thread*/, std::string_view /*bytes*/) {
  return Status::unsupported("a content is replaced as a whole");
}

const std::vector<Peer>& peers() {
  static const std::vector<Peer> all{
      {"files", open_file_blobs},
#ifdef VARVE_BENCH_SQLITE
      {"sqlite", open_sqlite_blobs},
#endif
#ifdef VARVE_BENCH_ROCKSDB
      {"rocksdb", open_rocksdb_blobs},
#endif
  };
  return all;
}

}  // namespace varve::bench
