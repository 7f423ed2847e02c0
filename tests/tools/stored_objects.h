// Owns: a queue, blobs and a large value that the program puts into a store, and what it shows of them afterwards.
// Must never: name where the store is. The verbs work on a directory and beside a server.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::test {

/// A content of several parts, which no compression makes shorter.
inline std::string stored_film() {
  std::string bytes(2'500'000, '\0');
  std::uint32_t state = 7;
  for (char& byte : bytes) {
    state = state * 1'664'525U + 1'013'904'223U;
    byte = static_cast<char>(state >> 24U);
  }
  return bytes;
}

inline void put_objects(const std::string& store) {
  const auto run = [](const std::vector<std::string>& words, const std::string& input = "") {
    const ProgramResult done = run_program(words, input);
    EXPECT_EQ(done.exit_code, 0) << done.err;
  };
  const std::string film = stored_film();
  run({"queue", "create", store, "orders"});
  run({"queue", "put", store, "orders", "first"});
  run({"queue", "put", store, "orders", std::string(20'000, 'x')});
  run({"container", "create", store, "photos"});
  run({"blob", "put", store, "photos", "film", "-"}, film);
  run({"blob", "put", store, "photos", "short", "-"}, "short");
  run({"blob", "copy", store, "photos", "film", "copy"});
  run({"table", "create", store, "People", "--large-values"});
  run({"put", store, "People", "p", "ann", "Name=Ann", "--content", "Photo=-"}, film.substr(0, 1'200'000));
}

/// Returns everything that the program shows of the objects.
inline std::string shown_objects(const std::string& store) {
  std::string shown;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"queue", "show", store, "orders", "--json"},
           {"queue", "peek", store, "orders", "--count", "32", "--json"},
           {"blob", "list", store, "photos", "--json"},
           {"blob", "get", store, "photos", "film"},
           {"blob", "get", store, "photos", "copy"},
           {"blob", "get", store, "photos", "short"},
           {"get", store, "People", "p", "ann"},
           {"get", store, "People", "p", "ann", "--json"},
           {"get", store, "People", "p", "ann", "--content", "Photo"},
       }) {
    const ProgramResult done = run_program(words);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    shown += done.out;
  }
  return shown;
}

/// Expects that a store has the objects as they were shown, and that all of it verifies.
inline void expect_objects(const std::string& store, const std::string& shown) {
  const std::string now = shown_objects(store);
  const auto at =
      static_cast<std::size_t>(std::mismatch(now.begin(), now.end(), shown.begin(), shown.end()).first - now.begin());
  const std::size_t begin = at - std::min<std::size_t>(at, 100);
  EXPECT_TRUE(now == shown) << store << " shows\n"
                            << now.substr(begin, 300) << "\nin place of\n"
                            << shown.substr(begin, 300);
  const ProgramResult film = run_program({"blob", "get", store, "photos", "film"});
  EXPECT_TRUE(film.out == stored_film());
  const ProgramResult verified = run_program({"verify", store});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

}  // namespace varve::test
