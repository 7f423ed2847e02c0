// Owns: deciding which CURRENT and manifest to trust (survey.h).
// Must never: trust a manifest that names other files than those present, unless CURRENT names that manifest.
#include "engine/repair/survey.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "engine/base/whole_file.h"
#include "engine/manifest/manifest_file.h"
#include "engine/manifest/root_file.h"
#include "engine/recovery/establish.h"
#include "engine/repair/salvaged_manifest.h"
#include "format/log/file_header.h"
#include "io/os_error.h"

namespace varve::engine {
namespace {

std::string name_of_manifest(std::uint64_t number) {
  return format::file_name(format::FileType::kManifest, number);
}

class Surveyor {
 public:
  Surveyor(ManifestTrust trust, Salvage& salvage) noexcept : trust_(trust), salvage_(salvage) {}

  Result<SurveyedStore> survey() {
    if (Status listed = list(); !listed.ok()) return listed;
    if (Status rooted = read_root(); !rooted.ok()) return rooted;
    if (Status found = find_manifest(); !found.ok()) return found;
    if (Status known = check_known(); !known.ok()) return known.in_file(name_of_manifest(store_.manifest.number));
    if (trust_ == ManifestTrust::kNone) store_.is_certain = false;
    if (!store_.is_certain) doubt();
    if (Status tables = take_tables(); !tables.ok()) return tables;
    take_log();
    return std::move(store_);
  }

 private:
  using Numbers = std::set<std::uint64_t>;

  /// Returns whether this build can read the store's features.
  Status check_known() const { return format::check_features(store_.files.features, true); }

  const Numbers& numbers(format::FileType type) { return numbers_[static_cast<std::uint16_t>(type)]; }

  Status list() {
    const Result<std::vector<io::DirectoryEntry>> entries = salvage_.directory.list();
    if (!entries.ok()) return entries.status();
    for (const io::DirectoryEntry& entry : *entries) {
      if (entry.name == format::kRootName) has_root_name_ = true;
      const Result<format::FileId> id = format::parse_file_name(entry.name);
      if (!id.ok()) continue;
      numbers_[static_cast<std::uint16_t>(id->type)].insert(id->number);
      number_max_ = std::max(number_max_, id->number);
    }
    if (!has_root_name_ && number_max_ == 0) return no_store("there is no store here");
    return Status();
  }

  Status no_store(std::string_view what) const { return Status::not_found(what).in_file(salvage_.directory.path()); }

  Status read_root() {
    Result<std::optional<RootFile>> root = RootFile::load(salvage_.directory);
    if (!root.ok() && !is_damage(root.status())) return root.status();
    if (!root.ok()) {
      ++salvage_.figures.report.current.damaged;
      salvage_.note(root.status());
      return Status();
    }
    if (!root->has_value()) {
      ++salvage_.figures.report.current.missing;
      salvage_.note(format::kRootName, "is missing");
      return Status();
    }
    root_ = (*root)->root();
    store_.root_version = root_->last_version;
    if (Status known = format::check_features(root_->features, true); !known.ok()) {
      return known.in_file(format::kRootName);
    }
    if (root_->state == format::RootState::kCreating) {
      if (number_max_ <= kNumberMaxOfMaking)
        return no_store("a store was being created here, but contains nothing yet");
      distrust_root("says that the store is being created, but files of a store exist");
      return Status();
    }
    ++salvage_.figures.report.current.whole;
    if (trust_ != ManifestTrust::kAsFound) distrust_root("is older than the log, which names a newer manifest");
    return Status();
  }

  void distrust_root(std::string_view why) {
    if (root_->state != format::RootState::kCreating) --salvage_.figures.report.current.whole;
    ++salvage_.figures.report.current.damaged;
    salvage_.note(format::kRootName, why);
    root_.reset();
  }

  // -- The manifest -----------------------------------------------------------------------------------------------

  Status find_manifest() {
    if (root_) {
      if (Status named = read_named_manifest(); !named.ok()) return named;
    }
    const Numbers& candidates = numbers(format::FileType::kManifest);
    for (auto number = candidates.rbegin(); number != candidates.rend() && !has_manifest_; ++number) {
      if (Status tried = try_manifest(*number); !tried.ok()) return tried;
    }
    if (root_) store_.root_unknown_fields = root_->unknown_fields;
    return Status();
  }

  Status read_named_manifest() {
    const std::uint64_t number = root_->manifest_number;
    Result<ManifestContent> content = read_manifest(salvage_.directory, *root_);
    if (content.ok() && content->files.store_id == root_->store_id) {
      ++salvage_.figures.report.manifests.whole;
      store_.files = std::move(content->files);
      store_.manifest = {number, content->valid_bytes};
      store_.is_certain = has_manifest_ = true;
      salvage_.figures.report.torn_bytes += content->torn_bytes;
      return Status();
    }
    const bool is_missing = !numbers(format::FileType::kManifest).contains(number);
    const Status why =
        content.ok() ? Status::corruption("belongs to another store than CURRENT").in_file(name_of_manifest(number))
                     : content.status();
    if (!is_damage(why)) return why;
    is_missing ? ++salvage_.figures.report.manifests.missing : ++salvage_.figures.report.manifests.damaged;
    salvage_.note(why);
    if (is_missing) return Status();
    judged_ = number;
    Result<std::optional<SalvagedManifest>> part = read_part(number, root_->manifest_seed);
    if (!part.ok()) return part.status();
    if (*part && (*part)->files.store_id == root_->store_id) take(number, **std::move(part));
    return Status();
  }

  Result<std::optional<SalvagedManifest>> read_part(std::uint64_t number, std::uint64_t seed) {
    const std::string name = name_of_manifest(number);
    const Result<std::string> bytes =
        read_whole_file(salvage_.directory, name, kManifestBytesReadMax, io::ReadMode::kDirect);
    if (is_damage(bytes.status())) return std::optional<SalvagedManifest>();
    if (!bytes.ok()) return bytes.status();
    Result<SalvagedManifest> part = salvage_manifest(*bytes, number, seed);
    if (!part.ok()) return part.status().in_file(name);
    if (part->edits == 0) return std::optional<SalvagedManifest>();
    return std::optional<SalvagedManifest>(*std::move(part));
  }

  void take(std::uint64_t number, SalvagedManifest part) {
    store_.files = std::move(part.files);
    store_.manifest = {number, part.valid_bytes};
    removed_ = std::move(part.removed);
    has_manifest_ = true;
  }

  /// Tries a manifest that CURRENT does not name, or that it named in a lost part.
  Status try_manifest(std::uint64_t number) {
    const std::string name = name_of_manifest(number);
    const Result<std::optional<std::uint64_t>> seed = seed_of(name, format::FileType::kManifest, number);
    if (!seed.ok()) return seed.status();
    Result<std::optional<SalvagedManifest>> part = std::optional<SalvagedManifest>();
    if (*seed) part = read_part(number, **seed);
    if (!part.ok()) return part.status();
    if (!*part) {
      count_damaged(number, "no edit of it can be read");
      return Status();
    }
    const Result<bool> ours = is_ours((*part)->files);
    if (!ours.ok()) return ours.status();
    if (!*ours) {
      count_damaged(number, "belongs to another store");
      return Status();
    }
    if (root_ && root_->store_id != (*part)->files.store_id)
      distrust_root("belongs to another store than the files here");
    const bool is_whole = (*part)->ended.ok();
    const bool is_newest = number == *numbers(format::FileType::kManifest).rbegin();
    take(number, **std::move(part));
    if (is_whole) {
      if (judged_ != number) ++salvage_.figures.report.manifests.whole;
    } else {
      count_damaged(number, "is cut short");
    }
    if (root_ || !is_whole || !is_newest) return Status();
    const Result<bool> certain = explains_all();
    if (certain.ok()) store_.is_certain = *certain;
    return certain.status();
  }

  void count_damaged(std::uint64_t number, std::string_view why) {
    if (judged_ == number) return;  // counted as the one that CURRENT names
    ++salvage_.figures.report.manifests.damaged;
    salvage_.note(name_of_manifest(number), why);
  }

  /// Returns whether the manifest is the store's: by the store id in CURRENT, or by a file that the manifest names with
  /// its seed. CURRENT may be foreign.
  Result<bool> is_ours(const FileSet& files) {
    if (!root_ || root_->store_id == files.store_id) return true;
    for (const auto& [number, table] : files.tables) {
      const Result<std::optional<std::uint64_t>> seed =
          seed_of(format::file_name(format::FileType::kTable, number), format::FileType::kTable, number);
      if (!seed.ok()) return seed.status();
      if (*seed == table.seed) return true;
    }
    for (const auto& [number, segment] : files.segments) {
      const Result<std::optional<std::uint64_t>> seed =
          seed_of(format::file_name(format::FileType::kLogSegment, number), format::FileType::kLogSegment, number);
      if (!seed.ok()) return seed.status();
      if (*seed == segment.seed) return true;
    }
    return false;
  }

  /// Returns the seed of a header that verifies.
  Result<std::optional<std::uint64_t>> seed_of(const std::string& name, format::FileType type, std::uint64_t number) {
    const Result<std::unique_ptr<io::ReadableFile>> file = salvage_.directory.open(name, io::ReadMode::kCached);
    if (io::is_missing(file.status()) || is_damage(file.status())) return std::optional<std::uint64_t>();
    if (!file.ok()) return file.status();
    std::string bytes(std::min<std::uint64_t>((*file)->size_bytes(), format::kFileHeaderBytes), '\0');
    if (Status read = (*file)->read_exactly(0, std::as_writable_bytes(std::span(bytes))); !read.ok()) return read;
    const Result<format::FileHeader> header = format::decode_file_header(bytes, type);
    if (header.ok() && header->number == number) return std::optional<std::uint64_t>(header->seed);
    if (!header.ok() && !is_damage(header.status())) return header.status().in_file(name);
    return std::optional<std::uint64_t>();
  }

  /// Returns whether a manifest can be trusted without CURRENT. Every file that it names must be present and not belong
  /// to another store. No file may have a number that it cannot know.
  Result<bool> explains_all() {
    const FileSet& files = store_.files;
    if (number_max_ >= files.file_number_ceiling) return false;
    for (const auto& [number, table] : files.tables) {
      const Result<bool> is_it = is_the_named(format::FileType::kTable, number, table.seed);
      if (!is_it.ok() || !*is_it) return is_it;
    }
    for (const auto& [number, segment] : files.segments) {
      const Result<bool> is_it = is_the_named(format::FileType::kLogSegment, number, segment.seed);
      if (!is_it.ok() || !*is_it) return is_it;
    }
    if (!files.log_buffer) return true;
    return is_the_named(format::FileType::kLogBuffer, files.log_buffer->number, files.log_buffer->seed);
  }

  /// A file with a damaged header may be the named one.
  Result<bool> is_the_named(format::FileType type, std::uint64_t number, std::uint64_t seed) {
    if (!numbers(type).contains(number)) return false;
    const Result<std::optional<std::uint64_t>> found = seed_of(format::file_name(type, number), type, number);
    if (!found.ok()) return found.status();
    return !*found || **found == seed;
  }

  /// Records that commits may be missing anywhere, and that changed or deleted rows may have returned.
  void doubt() {
    Loss loss;
    loss.file = has_manifest_ ? name_of_manifest(store_.manifest.number) : std::string(format::kRootName);
    loss.offset = store_.manifest.durable_bytes;
    loss.what = "the list of the store's files is not certain";
    salvage_.losses.add(std::move(loss));
    // Loads that the manifest calls unfinished may have been adopted since.
    store_.files.loading_ids.clear();
  }

  // -- The files --------------------------------------------------------------------------------------------------

  bool is_live(std::uint64_t number) const { return !removed_.contains(number); }

  Status take_tables() {
    for (const auto& [number, entry] : store_.files.tables) {
      if (!store_.is_certain && !numbers(format::FileType::kTable).contains(number)) continue;
      store_.tables.push_back({format::file_name(format::FileType::kTable, number), entry, true, true});
    }
    if (store_.is_certain) return Status();
    for (const std::uint64_t number : numbers(format::FileType::kTable)) {
      if (store_.files.tables.contains(number) || !is_live(number)) continue;
      TableSource source;
      source.name = format::file_name(format::FileType::kTable, number);
      source.entry.number = number;
      if (Status described = describe_unnamed(source, salvage_); !described.ok()) return described;
      store_.tables.push_back(std::move(source));
    }
    return Status();
  }

  void take_log() {
    const FileSet& files = store_.files;
    std::map<std::uint64_t, SegmentSource> segments;
    for (const auto& [number, segment] : files.segments) {
      if (!store_.is_certain && !numbers(format::FileType::kLogSegment).contains(number)) continue;
      segments[number] = {format::file_name(format::FileType::kLogSegment, number), segment, true};
    }
    if (files.log_buffer &&
        (store_.is_certain || numbers(format::FileType::kLogBuffer).contains(files.log_buffer->number))) {
      const std::string name = format::file_name(format::FileType::kLogBuffer, files.log_buffer->number);
      store_.buffers.push_back({name, *files.log_buffer, true});
    }
    if (!store_.is_certain) take_unnamed_log(segments);
    for (auto& [number, segment] : segments) store_.segments.push_back(std::move(segment));
  }

  void take_unnamed_log(std::map<std::uint64_t, SegmentSource>& segments) {
    for (const std::uint64_t number : numbers(format::FileType::kLogSegment)) {
      if (segments.contains(number) || !is_live(number)) continue;
      SegmentSource source;
      source.name = format::file_name(format::FileType::kLogSegment, number);
      source.segment.number = number;
      segments[number] = std::move(source);
    }
    for (const std::uint64_t number : numbers(format::FileType::kLogBuffer)) {
      if (store_.files.log_buffer && store_.files.log_buffer->number == number) continue;
      store_.buffers.push_back(
          {format::file_name(format::FileType::kLogBuffer, number), format::LogBufferEntry{number, 0, {}}, false});
    }
  }

  const ManifestTrust trust_;
  Salvage& salvage_;
  SurveyedStore store_;
  std::map<std::uint16_t, Numbers> numbers_;  // by file type
  std::uint64_t number_max_ = 0;
  bool has_root_name_ = false;
  std::optional<format::Root> root_;
  bool has_manifest_ = false;
  std::uint64_t judged_ = 0;  // the manifest that CURRENT names, once its damage is counted
  Numbers removed_;
};

}  // namespace

Result<SurveyedStore> survey_store(ManifestTrust trust, Salvage& salvage) {
  return Surveyor(trust, salvage).survey();
}

}  // namespace varve::engine
