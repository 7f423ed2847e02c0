// Logs in objects: one append blob an hour, named web/YYYY/MM/DD/HH/NNNNNN.log. Threads append lines, a reader follows them,
// and the first and the last time of an hour are in the blob's metadata. Names in order are times in order, so the hours of a
// day are a prefix. An old day is deleted blob by blob; no line of it is read.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include <varve/blob.h>

#include "example.h"

using namespace varve;
using patterns::Example;

namespace {

constexpr int kThreads = 4;
constexpr int kLinesOfThread = 250;
constexpr int kLines = kThreads * kLinesOfThread;

std::string hour_of(int day, int hour) {
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "web/2026/11/%02d/%02d/000000.log", day, hour);
  return name.data();
}

std::string line_of(int hour, int thread, int number) {
  return std::to_string(hour) + ":00 request " + std::to_string(thread) + "." + std::to_string(number) + "\n";
}

/// Writes the lines of an hour from several threads. Each line is one append: it is in the blob whole, or not at all.
void write_lines(Container& logs, const std::string& blob, int hour) {
  std::vector<std::thread> writers;
  for (int thread = 0; thread < kThreads; ++thread) {
    writers.emplace_back([&logs, &blob, hour, thread] {
      for (int i = 0; i < kLinesOfThread; ++i) Example::must(logs.append(blob, line_of(hour, thread, i)));
    });
  }
  for (std::thread& writer : writers) writer.join();
}

void write_hour(Container& logs, int day, int hour) {
  const std::string blob = hour_of(day, hour);
  Example::must(logs.create_append_blob(blob));
  write_lines(logs, blob, hour);
  const std::string time = "2026-11-" + std::to_string(day) + "T" + std::to_string(hour);
  Example::must(logs.set_metadata(blob, {{"StartTime", time + ":00:00Z"}, {"EndTime", time + ":59:59Z"}}));
}

/// Follows a blob until it has the lines of one hour, and returns its text.
std::string follow(const Container& logs, const std::string& blob) {
  std::string text;
  BlobTailOptions next;
  next.wait = std::chrono::seconds(30);
  while (std::count(text.begin(), text.end(), '\n') < kLines) {
    const BlobTail more = Example::must(logs.tail(blob, next));
    if (more.bytes.empty()) break;  // Half a minute went by without a line.
    text += more.bytes;
    next.offset += more.bytes.size();
    next.created = more.created;
  }
  return text;
}

/// Returns the names below a prefix. Each page has the state of its blobs, so no blob is opened.
std::vector<BlobState> below(const Container& logs, std::string prefix) {
  std::vector<BlobState> found;
  BlobListing listing;
  listing.prefix = std::move(prefix);
  for (;;) {
    BlobPage page = Example::must(logs.list(listing));
    for (BlobListed& entry : page.entries) found.push_back(std::move(entry.blob));
    if (!page.continuation) return found;
    listing.continuation = *page.continuation;
  }
}

}  // namespace

int main() {
  Example example("Logs in objects: an append blob for each hour");
  Container logs = Example::must(example.store().create_container("examples", "logs"));

  for (int hour = 10; hour < 13; ++hour) write_hour(logs, 26, hour);
  const std::string now = hour_of(27, 10);
  Example::must(logs.create_append_blob(now));
  std::string followed;
  std::thread reader([&] { followed = follow(logs, now); });
  write_lines(logs, now, 10);
  reader.join();
  int whole = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int i = 0; i < kLinesOfThread; ++i)
      whole += followed.find(line_of(10, thread, i)) != std::string::npos ? 1 : 0;
  }
  example.show(whole == kLines, "a reader follows 1,000 lines of four threads, each of them whole");

  const std::vector<BlobState> day = below(logs, "web/2026/11/26/");
  example.show(day.size() == 3 && day.front().name == hour_of(26, 10),
               "the hours of a day are a prefix, in their order");
  example.show(day.back().metadata.front().value == "2026-11-26T12:00:00Z", "a listing shows the times of each hour");
  for (const BlobState& hour : day) Example::must(logs.remove(hour.name));
  example.show(below(logs, "web/").size() == 1, "an old day is deleted; the present hour stays");
  return example.end();
}
