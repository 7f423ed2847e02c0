// Owns: writes and deletions of logs (log_store.h).
// Must never: show entries that the metadata of the log does not cover.
#include "tools/serve/analytics/log_store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/serve/analytics/log_entry.h"
#include "varve/limits.h"

namespace varve::serve {
namespace {

constexpr std::uint64_t kTicksOfSecond = 10'000'000;
/// A log that has this length, or that was made of this many appends, is followed by another one.
constexpr std::uint64_t kLogBytesMax = std::uint64_t{64} << 20;
constexpr std::uint32_t kLogAppendsMax = limits::kAppendsMax / 2;
/// The names that are tried for a new log.
constexpr int kNamesMax = 100;
/// The pages of one call of delete_old_logs(), so that a stop of the server is not held up.
constexpr int kLogPagesOfDeletion = 5;
constexpr std::uint32_t kLogPage = 1000;

/// Returns the time in whole seconds.
std::string seconds_text(DateTime time) {
  return DateTime{time.ticks - time.ticks % kTicksOfSecond}.to_string();
}

/// Returns the classes as `read,write,delete`.
std::string classes_text(std::uint8_t classes) {
  constexpr std::array<std::string_view, kRequestClasses> kNames = {"read", "write", "delete"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((classes & class_bit(static_cast<RequestClass>(i))) == 0) continue;
    text.append(text.empty() ? "" : ",").append(kNames[i]);
  }
  return text;
}

/// Returns the metadata of a log. Source: AL-04.
std::vector<MetadataPair> log_metadata(std::uint8_t classes, DateTime first, DateTime last) {
  return {{"LogType", classes_text(classes)},
          {"StartTime", seconds_text(first)},
          {"EndTime", seconds_text(last)},
          {"LogVersion", "1.0"}};
}

/// Returns the number in the name of a log of this folder, or nothing for another name.
std::optional<std::uint32_t> number_of_log(std::string_view name, std::string_view folder) {
  std::uint32_t number = 0;
  if (name.size() <= folder.size()) return std::nullopt;
  const char* const begin = name.data() + folder.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), number);
  return error == std::errc() && end != begin ? std::optional(number) : std::nullopt;
}

}  // namespace

Status make_log_container(Store& store, std::string_view account) {
  const Status made = store.create_container(account, kLogContainer).status();
  return made.code() == Code::kExists ? Status() : made;
}

LogWriter::LogWriter(std::string account, StorageService service) : account_(std::move(account)), service_(service) {}

LogWriter::OpenLog* LogWriter::find(DateTime hour) noexcept {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const OpenLog& log) { return log.hour == hour; });
  return found == open_.end() ? nullptr : &*found;
}

Result<std::uint32_t> LogWriter::next_number(const Container& container, DateTime hour) {
  if (const OpenLog* const log = find(hour)) return log->number + 1;
  BlobListing listing;
  listing.prefix = log_folder(service_, hour);
  std::uint32_t next = 0;
  for (;;) {
    const Result<BlobPage> page = container.list(listing);
    if (!page.ok()) return page.status();
    for (const BlobListed& listed : page->entries) {
      const std::optional<std::uint32_t> number = number_of_log(listed.blob.name, listing.prefix);
      if (number) next = std::max(next, *number + 1);
    }
    if (!page->continuation) return next;
    listing.continuation = *page->continuation;
  }
}

Status LogWriter::begin(Container& container, const LogBatch& batch) {
  const Result<std::uint32_t> first = next_number(container, batch.hour);
  if (!first.ok()) return first.status();
  // The place comes first: a log that was made has one, also if memory runs out.
  if (find(batch.hour) == nullptr) {
    if (open_.size() >= kOpenLogsMax) {
      open_.erase(std::min_element(open_.begin(), open_.end(),
                                   [](const OpenLog& left, const OpenLog& right) { return left.hour < right.hour; }));
    }
    open_.reserve(kOpenLogsMax);
  }
  BlobWriteOptions options;
  options.metadata = log_metadata(batch.classes, batch.first, batch.last);
  options.properties.content_type = "text/plain";
  options.conditions.if_none_match = ETag::any();
  options.durability = Durability::kBuffered;
  Status made;
  for (std::uint32_t number = *first; number < *first + kNamesMax; ++number) {
    OpenLog log;
    log.hour = batch.hour;
    log.number = number;
    log.name = log_name(service_, batch.hour, number);
    log.first = batch.first;
    log.last = batch.last;
    log.classes = batch.classes;
    made = container.create_append_blob(log.name, options).status();
    if (made.ok()) {
      OpenLog* const present = find(batch.hour);
      (present == nullptr ? open_.emplace_back() : *present) = std::move(log);
    }
    if (made.code() != Code::kExists) return made;
  }
  return made;
}

Status LogWriter::append(Container& container, const LogBatch& batch, OpenLog& log) {
  const auto classes = static_cast<std::uint8_t>(log.classes | batch.classes);
  const DateTime first = std::min(log.first, batch.first);
  const DateTime last = std::max(log.last, batch.last);
  std::vector<MetadataPair> metadata = log_metadata(classes, first, last);
  if (metadata != log_metadata(log.classes, log.first, log.last)) {
    // The metadata comes first: a reader that chooses logs by it misses no entry.
    BlobChangeOptions options;
    options.durability = Durability::kBuffered;
    if (Status set = container.set_metadata(log.name, metadata, options).status(); !set.ok()) return set;
    log.classes = classes;
    log.first = first;
    log.last = last;
  }
  AppendOptions options;
  options.durability = Durability::kBuffered;
  const Result<AppendedBlock> appended = container.append(log.name, batch.lines, options);
  if (!appended.ok()) return appended.status();
  log.bytes += batch.lines.size();
  log.appends = appended->append_count;
  return Status();
}

Status LogWriter::write(Store& store, const LogBatch& batch) {
  Result<Container> container = store.open_container(account_, kLogContainer);
  if (container.code() == Code::kNotFound) {
    if (Status made = make_log_container(store, account_); !made.ok()) return made;
    container = store.open_container(account_, kLogContainer);
  }
  if (!container.ok()) return container.status();
  OpenLog* const log = find(batch.hour);
  const std::uint32_t appends_max = std::min(kLogAppendsMax, store.limits().blob_appends_max);
  const bool goes_on = log != nullptr && log->appends < appends_max && log->bytes + batch.lines.size() <= kLogBytesMax;
  if (goes_on) {
    const Status appended = append(*container, batch, *log);
    if (appended.code() != Code::kNotFound) return appended;  // else a client deleted the log
  }
  if (Status begun = begin(*container, batch); !begun.ok()) return begun;
  return append(*container, batch, *find(batch.hour));
}

Result<bool> delete_old_logs(Store& store, std::string_view account, StorageService service, DateTime oldest) {
  Result<Container> container = store.open_container(account, kLogContainer);
  if (container.code() == Code::kNotFound) return true;
  if (!container.ok()) return container.status();
  const std::string kept = log_folder(service, oldest);
  BlobListing listing;
  listing.prefix = log_folder(service);
  listing.page_max = kLogPage;
  BlobChangeOptions options;
  options.durability = Durability::kBuffered;
  for (int pages = 0; pages < kLogPagesOfDeletion; ++pages) {
    const Result<BlobPage> page = container->list(listing);
    if (!page.ok()) return page.status();
    for (const BlobListed& listed : page->entries) {
      if (listed.blob.name >= kept) return true;
      const Status removed = container->remove(listed.blob.name, options);
      if (!removed.ok() && removed.code() != Code::kNotFound) return removed;  // a client deleted it meanwhile
    }
    if (!page->continuation) return true;
    listing.continuation = *page->continuation;
  }
  return false;
}

}  // namespace varve::serve
