// Owns: the steps of a scenario with messages, blobs and large values, each entered in the ledger with its result.
// Must never: judge a result. What the stage says of its operations holds for these (stage.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/lab/scenario/object_rows.h"
#include "tests/lab/scenario/stage.h"

namespace varve::lab {

inline constexpr std::string_view kQueue = "work";
inline constexpr std::string_view kContainer = "photos";

/// Steps with one queue and one container. Each function is one commit, unless it says otherwise.
class Objects {
 public:
  /// The stage outlives it.
  explicit Objects(Stage& stage) noexcept : stage_(stage) {}

  void queue();
  void drop_queue();
  void clear();
  /// Texts ascend in the order of the puts.
  void put(const std::string& text, Durability durability = Durability::kSync);
  /// Gets the first visible message, and holds it beyond the end of the script.
  void take(Durability durability = Durability::kBuffered);
  /// Makes the message that was taken last visible again, with another text.
  void release(const std::string& text, Durability durability = Durability::kSync);
  /// Deletes the message that was taken last.
  void remove(Durability durability = Durability::kSync);

  void container();
  void drop_container();
  void put_blob(const std::string& blob, const std::string& bytes, Durability durability = Durability::kSync);
  /// Writes a blob as a stream of two pieces.
  void write_blob(const std::string& blob, const std::string& bytes, Durability durability = Durability::kSync);
  using Blocks = std::vector<std::pair<std::string, std::string>>;  // ids and bytes
  /// Stages each block by a commit of its own.
  void stage_blocks(const std::string& blob, const Blocks& blocks, Durability durability = Durability::kSync);
  /// Makes the staged blocks the content of the blob.
  void commit_blocks(const std::string& blob, const Blocks& blocks, Durability durability = Durability::kSync);
  void append_blob(const std::string& blob);
  void append(const std::string& blob, const std::string& bytes, Durability durability = Durability::kSync);
  void copy(const std::string& blob, const std::string& source, Durability durability = Durability::kSync);
  void remove_blob(const std::string& blob, Durability durability = Durability::kSync);

  /// Creates a table whose entities may have large values.
  void value_table(std::string_view table);
  /// Puts an entity with a large value, which a commit before may have written.
  void write_value(const std::string& table, const std::string& row, const std::string& bytes,
                   Durability durability = Durability::kSync);

  /// A transaction: puts an entity, puts a message with `text`, deletes the message that was taken last, and puts a blob
  /// or makes it a copy. Empty parts are left out.
  struct Joint {
    std::string table = {};
    std::string row = {};
    std::string text = {};
    bool removes_taken = false;
    std::string blob = {};
    std::string bytes = {};   // of the blob
    std::string source = {};  // of the copy
  };
  void transact(const Joint& joint, Durability durability = Durability::kSync);

 private:
  /// Makes a commit of the queue or of the container.
  template <typename Act>
  void on_queue(const std::string& what, Durability durability, Act act, Effect effect);
  template <typename Act>
  void on_container(const std::string& what, Durability durability, Act act, Effect effect);
  Status add_all(const Joint& joint, StoreTransaction& transaction);

  Stage& stage_;
  std::optional<ReceivedMessage> held_;
};

}  // namespace varve::lab
