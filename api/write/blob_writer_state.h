// Owns: the implementation of a BlobWriter, and the commits that end it.
// Must never: be visible to users.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/core/container_state.h"
#include "api/write/content_writer.h"
#include "varve/blob.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL BlobWriter::State {
  State(std::shared_ptr<const Container::State> owner, format::TableId id, std::string blob,
        const BlobWriteOptions& chosen, std::optional<std::string> block)
      : container(std::move(owner)),
        name(std::move(blob)),
        options(chosen),
        block_id(std::move(block)),
        content(container->core, id, block_id ? ContentWriter::Inline::kNo : ContentWriter::Inline::kYes) {
    if (chosen.compresses && chosen.properties.content_encoding.empty()) content.allow_packing();
  }
  /// The writer of an append.
  State(std::shared_ptr<const Container::State> owner, format::TableId id, std::string blob,
        const AppendOptions& appending)
      : container(std::move(owner)),
        name(std::move(blob)),
        append(appending),
        content(container->core, id, ContentWriter::Inline::kNo) {
    options.durability = appending.durability;
    content.make_growing();
  }

  /// Errors: kClosed, kInvalidArgument (InvalidInput: the writer has ended), that of an append that failed before.
  Status check_usable() const;
  Durability durability() const noexcept {
    return options.durability.value_or(container->core->backend().default_durability());
  }

  const std::shared_ptr<const Container::State> container;
  const std::string name;
  BlobWriteOptions options{};
  const std::optional<std::string> block_id{};
  const std::optional<AppendOptions> append{};
  ContentWriter content;
  bool is_over = false;
};

/// Returns the verb that publishes the content, all of which was added. The writer outlives it.
BlobVerb publication_of(BlobWriter::State& writer);

/// Errors: as BlobWriter::publish().
Result<BlobState> publish_written_blob(BlobWriter::State& writer);
Result<BlobState> stage_written_block(BlobWriter::State& writer);

}  // namespace varve
