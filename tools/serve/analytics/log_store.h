// Owns: the logs of one service of an account in the container `$logs`: their names, their metadata, their growth, and
// their deletion.
// Must never: hold a lock, or be called by a thread that carries requests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/blobs/blob_target.h"
#include "tools/serve/analytics/log_queue.h"
#include "varve/blob.h"
#include "varve/result.h"
#include "varve/service_properties.h"
#include "varve/store.h"
#include "varve/types.h"

namespace varve::serve {

/// Creates the container of the logs if it does not exist. Errors: those of Store::create_container().
Status make_log_container(Store& store, std::string_view account);

/// Appends batches to the log of their hour. Each writer begins logs of its own, which no other writer continues. It goes
/// on with the logs of the latest hours, since an entry has the hour of its request's beginning. One thread at a time may
/// use it.
class LogWriter {
 public:
  LogWriter(std::string account, StorageService service);

  /// Appends the batch with buffered commits. A log that a client deleted is not continued. Errors: those of writes of
  /// blobs. After an error other than kUnknown nothing of the batch is stored.
  Status write(Store& store, const LogBatch& batch);

 private:
  /// The log that grows.
  struct OpenLog {
    DateTime hour{};
    std::uint32_t number = 0;
    std::string name{};
    std::uint64_t bytes = 0;
    std::uint32_t appends = 0;
    DateTime first{};
    DateTime last{};
    std::uint8_t classes = 0;
  };

  /// The hours whose logs grow at a time.
  static constexpr std::size_t kOpenLogsMax = 3;

  /// Returns the log of an hour, or nullptr.
  OpenLog* find(DateTime hour) noexcept;
  Status begin(Container& container, const LogBatch& batch);
  Status append(Container& container, const LogBatch& batch, OpenLog& log);
  /// Returns the number after that of the last log of the hour.
  Result<std::uint32_t> next_number(const Container& container, DateTime hour);

  const std::string account_;
  const StorageService service_;
  std::vector<OpenLog> open_;
};

/// Deletes the logs of hours that began before `oldest`, with buffered commits. Returns whether all are deleted: one call
/// deletes a limited number. Errors: those of listings and deletions. Source: AL-08.
Result<bool> delete_old_logs(Store& store, std::string_view account, StorageService service, DateTime oldest);

}  // namespace varve::serve
