// Owns: the reaction of a store to a damaged disk, and whether the law allows it.
// Must never: excuse a wrong answer because of the kind of damage. A wrong answer is always wrong.
//
// The law for a store that was closed cleanly: it reports every change as damage, at the open or as soon as the changed
// data is read. It names the file, and returns correct answers or errors until then. The law for a crashed store: its
// content is a state that the store once had. Only groups submitted since the newest surviving mark may be missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/corrupt/damage.h"

namespace varve::lab {

enum class Outcome : std::uint8_t {
  kUnchanged,    // not a case: the damage would change nothing
  kRefused,      // refused at the open
  kQuarantined,  // opened; reads of damaged data return errors, all other answers are correct
  kRepaired,     // a crashed store whose log or buffer was damaged; nothing is missing
  kShortened,    // a crashed store: the end of its log is missing, which is allowed
  kHarmless,     // nothing differs, and nothing can: the file contains no data that counts
  // CURRENT and all files that it names are those of another complete clean state: the format cannot detect it
  kRolledBack,
  kBroken,  // a finding
};
inline constexpr std::size_t kOutcomes = 8;

std::string_view outcome_name(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::kBroken;
  std::string what;    // of a finding: the broken law
  std::string detail;  // the answers of the store
};

class Judge {
 public:
  /// Also opens the undamaged disk. If it differs from the sample's description, every verdict is kBroken.
  explicit Judge(const Victim& victim);

  /// If `thorough`, it also opens for writing, and checks that a refused store is unchanged.
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
  std::string broken_;  // a fault of the undamaged store, which overrides every other verdict
  std::map<std::string, History> others_;
  // For a crashed store:
  std::vector<std::string> open_segments_;  // without a footer, with or without records
  std::uint64_t first_logged_version_ = 0;  // of a record in an open segment or in the buffer; zero: none
  std::uint64_t version_without_buffer_ = 0;
  std::vector<std::string> strays_;  // files that no other file names
};

}  // namespace varve::lab
