// Owns: the calls of the C interface that write and read contents as streams, and those on blocks.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c/blobs.h"
#include "api/c/sized.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

Status give_writer(const ContainerObject& container, Result<BlobWriter> begun, varve_blob_writer** writer) {
  if (!begun.ok()) return begun.status();
  return give_handle(std::make_unique<BlobWriterObject>(*std::move(begun), container.gate()), writer);
}

Result<std::vector<BlockChoice>> read_choices(const varve_block_choice* blocks, std::size_t count) {
  if (blocks == nullptr && count != 0) return null_pointer("blocks");
  std::vector<BlockChoice> read;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<std::string_view> id = read_text(blocks[i].id, "an id of a block");
    if (!id.ok()) return id.status();
    if (blocks[i].from < VARVE_BLOCK_LATEST || blocks[i].from > VARVE_BLOCK_COMMITTED) {
      return Status::invalid_argument("a block is from " + std::to_string(blocks[i].from) +
                                      "; expected a VARVE_BLOCK number");
    }
    read.push_back({std::string(*id), static_cast<BlockChoice::From>(blocks[i].from)});
  }
  return read;
}

}  // namespace
}  // namespace varve::c

varve_status* varve_blob_writer_open(const varve_container* container, varve_text blob,
                                     const varve_blob_write_options* options, varve_blob_writer** writer) {
  if (writer != nullptr) *writer = nullptr;
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    if (writer == nullptr) return vc::null_pointer("writer");
    const varve::Result<varve::BlobWriteOptions> read = vc::read_blob_write_options(options);
    if (!read.ok()) return read.status();
    return vc::give_writer(held, held.container.write(name, *read), writer);
  });
}

varve_status* varve_blob_writer_stage(const varve_container* container, varve_text blob, varve_text id,
                                      const varve_blob_write_options* options, varve_blob_writer** writer) {
  if (writer != nullptr) *writer = nullptr;
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    if (writer == nullptr) return vc::null_pointer("writer");
    const varve::Result<std::string_view> block = vc::read_text(id, "id");
    if (!block.ok()) return block.status();
    const varve::Result<varve::BlobWriteOptions> read = vc::read_blob_write_options(options);
    if (!read.ok()) return read.status();
    return vc::give_writer(held, held.container.stage_block(name, *block, *read), writer);
  });
}

varve_status* varve_blob_writer_open_append(const varve_container* container, varve_text blob,
                                            const varve_append_options* options, varve_blob_writer** writer) {
  if (writer != nullptr) *writer = nullptr;
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    if (writer == nullptr) return vc::null_pointer("writer");
    const varve::Result<varve::AppendOptions> read = vc::read_append_options(options);
    if (!read.ok()) return read.status();
    return vc::give_writer(held, held.container.write_append(name, *read), writer);
  });
}

varve_status* varve_blob_writer_append(varve_blob_writer* writer, varve_text bytes) {
  return vc::call_on<vc::BlobWriterObject>(writer, [&](vc::BlobWriterObject& held) -> varve::Status {
    if (varve::Status usable = held.check(); !usable.ok()) return usable;
    const varve::Result<std::string_view> read = vc::read_text(bytes, "bytes");
    return read.ok() ? held.writer->append(*read) : read.status();
  });
}

varve_status* varve_blob_writer_set_properties(varve_blob_writer* writer, const varve_blob_properties* properties) {
  return vc::call_on<vc::BlobWriterObject>(writer, [&](vc::BlobWriterObject& held) -> varve::Status {
    if (varve::Status usable = held.check(); !usable.ok()) return usable;
    varve::Result<varve::BlobProperties> read = vc::read_properties(properties);
    if (!read.ok()) return read.status();
    held.writer->properties() = *std::move(read);
    return varve::Status();
  });
}

varve_status* varve_blob_writer_publish(varve_blob_writer* writer, varve_blobs** written) {
  vc::forget(written);
  return vc::call_on<vc::BlobWriterObject>(writer, [&](vc::BlobWriterObject& held) -> varve::Status {
    if (varve::Status usable = held.check(); !usable.ok()) return usable;
    return vc::write_blob(written, [&] { return held.writer->publish(); });
  });
}

void varve_blob_writer_free(varve_blob_writer* writer) {
  vc::free_handle(writer, vc::Kind::kBlobWriter);
}

varve_status* varve_blob_reader_open(const varve_container* container, varve_text blob,
                                     const varve_blob_read_options* options, varve_blob_reader** reader) {
  if (reader != nullptr) *reader = nullptr;
  return vc::call_on_blob(container, blob, [&](const vc::ContainerObject& held, auto name) -> varve::Status {
    if (reader == nullptr) return vc::null_pointer("reader");
    const varve::Result<varve::BlobReadOptions> read = vc::read_blob_read_options(options);
    if (!read.ok()) return read.status();
    varve::Result<varve::BlobReader> opened = held.container.read(name, *read);
    if (!opened.ok()) return opened.status();
    return vc::give_handle(std::make_unique<vc::BlobReaderObject>(*std::move(opened), held.gate()), reader);
  });
}

varve_status* varve_blob_reader_state(const varve_blob_reader* reader, varve_blobs** state) {
  vc::forget(state);
  return vc::call_on<vc::BlobReaderObject>(reader, [&](const vc::BlobReaderObject& held) -> varve::Status {
    if (state == nullptr) return vc::null_pointer("state");
    return vc::show_blob(state, [&] { return varve::Result<varve::BlobState>(held.reader.state()); });
  });
}

varve_status* varve_blob_reader_read(const varve_blob_reader* reader, uint64_t offset, void* buffer, size_t size,
                                     size_t* count) {
  if (count != nullptr) *count = 0;
  return vc::call_on<vc::BlobReaderObject>(reader, [&](const vc::BlobReaderObject& held) -> varve::Status {
    if (count == nullptr) return vc::null_pointer("count");
    if (buffer == nullptr && size != 0) return vc::null_pointer("buffer");
    const varve::Result<std::size_t> got = held.reader.read(offset, std::span<char>(static_cast<char*>(buffer), size));
    if (!got.ok()) return got.status();
    *count = *got;
    return varve::Status();
  });
}

void varve_blob_reader_free(varve_blob_reader* reader) {
  vc::free_handle(reader, vc::Kind::kBlobReader);
}

varve_status* varve_blob_commit_blocks(const varve_container* container, varve_text blob,
                                       const varve_block_choice* blocks, size_t count,
                                       const varve_blob_write_options* options, varve_blobs** written) {
  vc::forget(written);
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    const varve::Result<std::vector<varve::BlockChoice>> choices = vc::read_choices(blocks, count);
    if (!choices.ok()) return choices.status();
    const varve::Result<varve::BlobWriteOptions> read = vc::read_blob_write_options(options);
    if (!read.ok()) return read.status();
    return vc::write_blob(written, [&] { return held.container.commit_blocks(name, *choices, *read); });
  });
}

varve_status* varve_blob_blocks(const varve_container* container, varve_text blob,
                                const varve_blob_read_options* options, varve_blocks** blocks) {
  if (blocks != nullptr) *blocks = nullptr;
  return vc::call_on_blob(container, blob, [&](const vc::ContainerObject& held, auto name) -> varve::Status {
    if (blocks == nullptr) return vc::null_pointer("blocks");
    const varve::Result<varve::BlobReadOptions> read = vc::read_blob_read_options(options);
    if (!read.ok()) return read.status();
    varve::Result<varve::BlockLists> lists = held.container.blocks(name, *read);
    if (!lists.ok()) return lists.status();
    return vc::give_handle(std::make_unique<vc::BlocksObject>(*std::move(lists)), blocks);
  });
}
