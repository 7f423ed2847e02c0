// Owns: the walk over names (blob_listing.h).
// Must never: show a name twice.
#include "api/read/blob_listing.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "api/model/continuation_token.h"
#include "api/model/listed_bytes.h"
#include "api/model/service_error.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// The rows of one kind, in the order of their names.
class NamedRows {
 public:
  NamedRows(const engine::ReadView& view, format::TableId container, char kind, std::string_view prefix)
      : container_(container),
        kind_(kind),
        lower_(named_rows_prefix(container, kind, prefix)),
        cursor_(view.cursor(lower_, format::end_of_prefix(lower_))) {}

  /// Moves to the first name that is not below `name`.
  Status seek(std::string_view name) {
    cursor_.seek(named_rows_prefix(container_, kind_, name));
    return take();
  }
  /// Moves past all names that begin with `prefix`.
  Status seek_behind(std::string_view prefix) {
    cursor_.seek(format::end_of_prefix(named_rows_prefix(container_, kind_, prefix)));
    return take();
  }
  Status next() {
    cursor_.next();
    return take();
  }
  const std::optional<std::string>& name() const noexcept { return name_; }
  const engine::Cursor& row() const noexcept { return cursor_; }

 private:
  Status take() {
    name_.reset();
    if (!cursor_.valid()) return cursor_.status();
    Result<std::string> name = decode_named_key(cursor_.key());
    if (!name.ok()) return name.status();
    name_ = *std::move(name);
    return Status();
  }

  const format::TableId container_;
  const char kind_;
  const std::string lower_;
  engine::Cursor cursor_;
  std::optional<std::string> name_;
};

Status check_listing(const BlobListing& listing) {
  if (listing.page_max == 0 || listing.page_max > limits::kBlobPageMax) {
    return service_error::out_of_range_parameter("page_max is " + std::to_string(listing.page_max) +
                                                 "; 1 to 5000 are allowed");
  }
  if (format::is_valid_utf8(listing.prefix) && format::is_valid_utf8(listing.delimiter)) return Status();
  return service_error::invalid_parameter("the prefix and the delimiter must be UTF-8");
}

/// One page.
class BlobWalk {
 public:
  BlobWalk(const engine::ReadView& view, format::TableId container, const BlobListing& listing, Ticks now)
      : listing_(listing), now_(now), blobs_(view, container, 'B', listing.prefix) {
    if (listing.with_uncommitted) staged_.emplace(view, container, 'H', listing.prefix);
  }

  Result<BlobPage> walk(const std::string& from) {
    if (Status begun = seek(from); !begun.ok()) return begun;
    for (;;) {
      const std::string* const name = least_name();
      if (name == nullptr) return std::move(page_);
      if (page_.entries.size() == listing_.page_max || bytes_ >= kListedBytesMax) {
        page_.continuation = encode_key_token(*name);
        return std::move(page_);
      }
      if (Status taken = take(*name); !taken.ok()) return taken;
      bytes_ += listed_bytes(page_.entries.back());
    }
  }

 private:
  Status seek(const std::string& from) {
    if (Status moved = blobs_.seek(from); !moved.ok()) return moved;
    return staged_ ? staged_->seek(from) : Status();
  }

  /// Returns null at the end. The name is valid until its rows move.
  const std::string* least_name() const noexcept {
    const std::optional<std::string>& blob = blobs_.name();
    if (!staged_ || !staged_->name()) return blob ? &*blob : nullptr;
    return !blob || *staged_->name() < *blob ? &*staged_->name() : &*blob;
  }

  Status take(const std::string& name) {
    if (std::optional<std::string> group = group_of(name)) {
      if (Status moved = blobs_.seek_behind(*group); !moved.ok()) return moved;
      if (Status moved = staged_ ? staged_->seek_behind(*group) : Status(); !moved.ok()) return moved;
      page_.entries.emplace_back().prefix = *std::move(group);
      return Status();
    }
    const bool is_blob = blobs_.name() == name;
    const bool is_staged = staged_ && staged_->name() == name;
    if (is_blob) {
      const engine::Cursor& at = blobs_.row();
      const Result<BlobRow> row = decode_blob_row(at.version(), at.value());
      if (!row.ok()) return row.status();
      page_.entries.push_back({{}, state_of(name, *row, at.version(), now_)});
    } else {
      BlobState state;
      state.name = name;
      state.is_uncommitted = true;
      page_.entries.push_back({{}, std::move(state)});
    }
    if (is_blob) {
      if (Status moved = blobs_.next(); !moved.ok()) return moved;
    }
    return is_staged ? staged_->next() : Status();
  }

  std::optional<std::string> group_of(const std::string& name) const {
    if (listing_.delimiter.empty()) return std::nullopt;
    const std::size_t at = name.find(listing_.delimiter, listing_.prefix.size());
    if (at == std::string::npos) return std::nullopt;
    return name.substr(0, at + listing_.delimiter.size());
  }

  const BlobListing& listing_;
  const Ticks now_;
  NamedRows blobs_;
  std::optional<NamedRows> staged_;
  BlobPage page_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<BlobPage> list_blob_page(const engine::ReadView& view, format::TableId container, const BlobListing& listing,
                                Ticks now) {
  if (Status checked = check_listing(listing); !checked.ok()) return checked;
  std::string from = listing.prefix;
  if (!listing.continuation.empty()) {
    Result<std::string> token = decode_key_token(listing.continuation);
    if (!token.ok()) {
      return Status::invalid_argument("the continuation is none that a listing returned")
          .with_service_error("InvalidMarker");
    }
    if (*token > from) from = *std::move(token);
  }
  return BlobWalk(view, container, listing, now).walk(from);
}

}  // namespace varve
