#include "tests/lab/kill/ledger.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace varve::lab {

void KillLedger::complain(const std::string& what) noexcept {
  std::uint64_t expected = 0;
  if (!text_state.compare_exchange_strong(expected, 1)) return;
  const std::size_t bytes = std::min(what.size(), text.size() - 1);
  std::memcpy(text.data(), what.data(), bytes);
  text[bytes] = '\0';
  text_state = 2;
}

std::string KillLedger::complaint() const {
  return text_state == 2 ? std::string(text.data()) : std::string();
}

void KillLedger::raise_version(std::uint64_t to) noexcept {
  std::uint64_t known = version.load();
  while (known < to && !version.compare_exchange_weak(known, to)) {
  }
}

SharedLedger::SharedLedger() {
  void* const memory = ::mmap(nullptr, sizeof(KillLedger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::abort();
  }
  ledger_ = new (memory) KillLedger{};
}

SharedLedger::~SharedLedger() {
  ::munmap(ledger_, sizeof(KillLedger));
}

}  // namespace varve::lab
