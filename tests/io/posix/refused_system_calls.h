// Owns: making system calls fail with a chosen errno by a kernel filter (seccomp), in a forked child.
// Must never: be used outside of a child: the filter cannot be removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace varve::io {

/// An argument of a call, 0 to 5, whose masked lower 32 bits equal `value`. Arguments that a call does not use can have
/// any value.
struct ArgumentIs {
  std::uint32_t argument;
  std::uint32_t value;
  std::uint32_t mask = UINT32_MAX;
};

/// Calls by number: all of them, or those with the given arguments.
struct RefusedCall {
  long number;
  int error;  // An errno; zero makes the call succeed without an effect.
  std::vector<ArgumentIs> arguments = {};
};

/// From now on this process cannot make these calls. Adds to earlier refusals.
inline void refuse_system_calls(const std::vector<RefusedCall>& calls) {
  constexpr std::uint8_t kStatementsAnArgument = 3;
  std::vector<sock_filter> program;
  const auto statement = [&](std::uint32_t code, std::uint32_t k) {
    program.push_back({static_cast<std::uint16_t>(code), 0, 0, k});
  };
  const auto skip_unless_equal = [&](std::uint32_t k, std::size_t skipped) {
    program.push_back(
        {static_cast<std::uint16_t>(BPF_JMP | BPF_JEQ | BPF_K), 0, static_cast<std::uint8_t>(skipped), k});
  };
  for (const RefusedCall& call : calls) {
    std::size_t arguments_left = call.arguments.size();
    statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    skip_unless_equal(static_cast<std::uint32_t>(call.number), kStatementsAnArgument * arguments_left + 1);
    for (const ArgumentIs& wanted : call.arguments) {
      --arguments_left;
      statement(BPF_LD | BPF_W | BPF_ABS,
                static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * wanted.argument);
      statement(BPF_ALU | BPF_AND | BPF_K, wanted.mask);
      skip_unless_equal(wanted.value, kStatementsAnArgument * arguments_left + 1);
    }
    statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(call.error));
  }
  statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

  const sock_fprog filter{static_cast<std::uint16_t>(program.size()), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) std::abort();
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) std::abort();
}

}  // namespace varve::io
