// Owns: what a store does with a damaged disk, and whether it may.
// Must never: look at what was damaged to explain an answer away: a wrong answer is wrong.
//
// The law. A store that was closed cleanly says of every change that it is damaged, at the open or as soon as what was
// changed is read, names the file, and gives right answers or errors until then. Of one that crashed the content is a
// state that the store once had, and only groups submitted since the newest surviving mark may be missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/corrupt/damage.h"

namespace varve::lab {

enum class Outcome : std::uint8_t {
  kUnchanged,    // no case: the damage would change nothing
  kRefused,      // at the open
  kQuarantined,  // opened; what is damaged is answered with errors, all else right
  kRepaired,     // a crashed store: its log or its buffer was damaged, and nothing is missing
  kShortened,    // a crashed store: the end of its log is missing, as it may be
  kHarmless,     // nothing differs, and nothing can: the file holds nothing that counts
  kRolledBack,   // CURRENT and all it names are those of another clean state, whole: the format cannot know
  kBroken,       // a finding
};
inline constexpr std::size_t kOutcomes = 8;

std::string_view outcome_name(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::kBroken;
  std::string what;    // of a finding: the law that was broken
  std::string detail;  // and the answers
};

class Judge {
 public:
  /// Opens the undamaged disk, too; it must be what the sample says, else every verdict is kBroken.
  explicit Judge(const Victim& victim);

  /// `thorough` opens for writing as well, and looks that a refused store is left as it was.
  Verdict judge(const Damage& damage, const io::MemoryDisk& disk, bool thorough) const;

 private:
  Verdict judge_once(const Damage& damage, const io::MemoryDisk& disk, bool for_writing) const;
  Verdict judge_refusal(const Damage& damage, const Status& refusal) const;
  Verdict judge_opened(const Damage& damage, const io::MemoryDisk& disk, const Store& store) const;
  Verdict judge_unnoticed(const Damage& damage, const io::MemoryDisk& disk, std::uint64_t version) const;
  Verdict judge_shorter(const Damage& damage, const io::MemoryDisk& disk, std::uint64_t version) const;
  Verdict judge_after_close(const Damage& damage, const io::MemoryDisk& disk, const Verdict& before) const;

  bool may_be_harmless(const Damage& damage, const io::MemoryDisk& disk) const;
  std::uint64_t durable_bytes_of_manifest(const std::string& manifest) const;
  bool is_end_of_log(const Damage& damage) const;
  bool proves_the_hole(const Damage& damage, const io::MemoryDisk& disk, std::uint64_t version) const;
  std::uint64_t lowest_version_after(const Damage& damage, const io::MemoryDisk& disk) const;
  std::uint64_t last_shown_below(std::uint64_t version) const;
  const StoreContent* content_at(std::uint64_t version, const Damage& damage) const;
  void find_ends_of_the_log();
  void find_strays();

  const Victim& victim_;
  std::string broken_;  // of the undamaged store: nothing else counts then
  std::map<std::string, History> others_;
  // Of a crashed store:
  std::vector<std::string> open_segments_;  // without a footer, with or without records
  std::uint64_t first_logged_version_ = 0;  // in one of them, or in the buffer; zero: none
  std::uint64_t version_without_buffer_ = 0;
  std::vector<std::string> strays_;  // that nothing names
};

}  // namespace varve::lab
