#include "tools/varve/import/import_run.h"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "tools/varve/import/dry_run.h"
#include "tools/varve/import/import_target.h"
#include "tools/varve/import/importer.h"
#include "tools/varve/import/load_importer.h"
#include "tools/varve/import/refusal_report.h"
#include "tools/varve/input/stop_signal.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/store_text.h"

namespace varve::tool {

namespace {

ImportMode mode_of(const std::string& word) {
  if (word == "merge") return ImportMode::kInsertOrMerge;
  return word == "insert" ? ImportMode::kInsert : ImportMode::kInsertOrReplace;
}

std::string shown(const std::string& name) {
  return show_text(name, SIZE_MAX).text;
}

void report(const ImportWords& words, const ImportCounts& counts, const Statistics& figures,
            std::chrono::nanoseconds elapsed) {
  const double seconds = std::max(std::chrono::duration<double>(elapsed).count(), 1e-9);
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(counts.imported) / seconds);
  if (words.json) {
    std::cout << R"({"read":)" << counts.read << R"(,"imported":)" << counts.imported << R"(,"repeated":)"
              << counts.repeated << R"(,"refused":)" << counts.refused << R"(,"seconds":)" << seconds;
    if (!words.load) std::cout << R"(,"write_amplification":)" << write_amplification(figures);
    std::cout << "}\n";
    return;
  }
  std::cout << "imported " << with_commas(counts.imported) << " of " << with_commas(counts.read) << " rows into "
            << words.place.table << " in " << duration_text(elapsed) << " (" << with_commas(rate) << " rows/s)\n"
            << "device   "
            << (words.load ? bytes_text(figures.load_written_bytes) + " of table files, no log" : written_text(figures))
            << "\n";
  if (counts.repeated > 0) {
    std::cerr << "varve: " << counted(counts.repeated, "row", "rows") << " had the key of an earlier row and "
              << (words.mode == "merge" ? "was merged into it\n" : "replaced it\n");
  }
}

void report_refused(const ImportCounts& counts) {
  if (counts.refused == 0) return;
  std::cerr << "varve: " << with_commas(counts.refused) << (counts.refused == 1 ? " row was" : " rows were")
            << " refused\n";
}

/// The texts of an import, how far they are used, and how they ended.
struct Input {
  ImportTexts texts;
  /// The text that is being imported.
  OpenText open;
  /// The line on which the last whole row ends.
  std::uint64_t last_line = 0;
  int stop_signal = 0;
};

/// Adds a row that is whole.
Status add_row(Importer& importer, const RowPlace& place, Row& row) {
  return importer.add(place, *std::move(row.entity), row.contents);
}
template <typename AnyImporter>
Status add_row(AnyImporter& importer, const RowPlace& place, Row& row) {
  return importer.add(place, *std::move(row.entity));
}

/// Imports the rows of the open text. Errors: those of `importer`, and why the rest of the text cannot be read.
template <typename AnyImporter>
Status pump_text(Input& input, AnyImporter& importer, RefusalReport& refusals, Progress& progress) {
  input.last_line = 0;
  const std::size_t text = refusals.begin_text(input.texts.has_several() ? shown(input.open.name) : "");
  while (std::optional<Row> row = input.open.rows->next()) {
    input.last_line = row->last_line;
    const RowPlace place{row->line, row->row, text};
    const std::uint64_t refused = importer.counts().refused;
    if (row->entity.ok()) {
      const Status added = add_row(importer, place, *row);
      if (added.code() == Code::kCancelled) {  // a signal, while a file of a large value was read
        input.stop_signal = stop_signal_seen();
        return Status();
      }
      if (!added.ok()) return added;
      if (importer.counts().refused == refused) refusals.accept();
    } else {
      importer.refuse({place, row->entity.status(), row->shape_fault, row->fault});
    }
    progress.update(importer.counts().read, input.texts.bytes_before() + input.open.lines->bytes_read());
  }
  input.stop_signal = input.open.lines->stop_signal();
  if (const Status fault = input.open.rows->fault(); !fault.ok()) return fault.in_file(input.open.name);
  return input.open.lines->status();
}

template <typename AnyImporter>
Status pump(Input& input, AnyImporter& importer, RefusalReport& refusals, Progress& progress) {
  for (;;) {
    Status read = pump_text(input, importer, refusals, progress);
    if (!read.ok() || input.stop_signal != 0) {
      const Status stopped = importer.stop();
      return stopped.ok() ? read : stopped;
    }
    Result<std::optional<OpenText>> next = input.texts.next();
    if (!next.ok()) {
      const Status stopped = importer.stop();
      return stopped.ok() ? next.status() : stopped;
    }
    std::optional<OpenText>& found = *next;
    if (found) {
      input.open = *std::move(found);
      continue;
    }
    input.stop_signal = input.texts.is_at_end() ? 0 : stop_signal_seen();
    return input.stop_signal == 0 ? importer.finish() : importer.stop();
  }
}

std::string_view what_is_left(const ImportWords& words, const ImportCounts& counts, const Status& ended) {
  if (words.dry_run) return "; a dry run imports nothing\n";
  if (words.load) {
    return ended.code() == Code::kUnknown ? "; either all rows were imported or none\n"
                                          : "; nothing was imported; run it again\n";
  }
  if (counts.imported + counts.repeated == 0 && ended.code() != Code::kUnknown)
    return "; nothing was imported; run it again\n";
  return words.mode == "insert"
             ? "; the imported rows stay; run it again to insert the others (it refuses the rows that exist)\n"
             : "; the imported rows stay; run it again to finish it\n";
}

void report_left_out(const ImportTexts& texts) {
  for (const LeftOut& member : texts.left_out()) {
    std::cerr << "varve: " << shown(member.name) << " was left out, because "
              << (member.is_packed ? "it is packed in its turn; unpack the archive, and give its files\n"
                                   : "its name shows no format; --format reads it\n");
  }
}

/// Reports the indexes that a load has not built. Returns the exit code.
int report_unbuilt(const std::vector<UnbuiltIndex>& unbuilt) {
  for (const UnbuiltIndex& index : unbuilt) {
    std::cerr << "varve: the rows were imported, but "
              << (index.name.empty() ? "the indexes are" : "the index " + index.name + " is")
              << " not built: " << index.reason.to_string() << "\n";
  }
  if (unbuilt.empty()) return kSuccess;
  print_hint(
      "`varve index create` with the definition of an index builds it; `varve index list` shows which are building");
  if (stop_signal_seen() != 0) return 128 + stop_signal_seen();
  return exit_code_of(unbuilt.front().reason);
}

int end_import(const ImportWords& words, const Input& input, const ImportCounts& counts, const Status& ended) {
  report_left_out(input.texts);
  if (!ended.ok()) {
    std::cerr << "varve: the import stopped after line " << input.last_line << " of " << shown(input.open.name)
              << what_is_left(words, counts, ended);
    return fail(ended);
  }
  if (input.stop_signal != 0) {
    std::cerr << "varve: stopped by a signal after line " << input.last_line << " of " << shown(input.open.name)
              << what_is_left(words, counts, ended);
    return 128 + input.stop_signal;
  }
  return counts.refused == 0 ? kSuccess : kRefused;
}

template <typename AnyImporter>
int import_with(AnyImporter& importer, ImportTarget& target, RefusalReport& refusals, const ImportWords& words,
                Input& input) {
  Status ended;
  std::chrono::nanoseconds elapsed{};
  {
    Progress progress("rows", input.texts.total_bytes());
    ended = pump(input, importer, refusals, progress);
    if (Status closed = target.close(); ended.ok()) ended = closed;
    elapsed = progress.elapsed();
  }
  const Result<Statistics> figures = target.store() == nullptr ? Statistics() : target.store()->statistics();
  report(words, importer.counts(), figures.ok() ? *figures : Statistics(), elapsed);
  refusals.end();
  if (!words.json) report_refused(importer.counts());
  const int exit_code = end_import(words, input, importer.counts(), ended);
  const int unbuilt = report_unbuilt(target.unbuilt_indexes());
  return exit_code == kSuccess ? unbuilt : exit_code;
}

Refusal refusal_to(RefusalReport& refusals) {
  return [&refusals](const RefusedRow& row) { refusals.add(row); };
}

int run_dry(const ImportWords& words, RefusalReport& refusals, Input& input) {
  DryRun run(refusal_to(refusals));
  Status ended;
  {
    Progress progress("rows", input.texts.total_bytes());
    ended = pump(input, run, refusals, progress);
  }
  run.report(words.place.table, words.json);
  refusals.end();
  if (!words.json) report_refused(run.counts());
  return end_import(words, input, run.counts(), ended);
}

int import_rows(const ImportWords& words, RefusalReport& refusals, Input& input) {
  ImportTarget target(words.place, words.load, !words.contents.empty());
  if (Status opened = target.open(); !opened.ok()) return fail(opened);
  if (words.load) {
    LoadImporter importer(target, refusal_to(refusals));
    return import_with(importer, target, refusals, words, input);
  }
  WriteOptions options;
  options.durability = durability_of(words.durability);
  RowContents contents(words.contents);
  Importer importer(target, mode_of(words.mode), options, refusal_to(refusals),
                    words.contents.empty() ? nullptr : &contents);
  return import_with(importer, target, refusals, words, input);
}

int fail_to_open(const Status& status) {
  if (status.code() == Code::kUnsupported) return fail(kUsage, status.message());
  return status.code() == Code::kIoError ? fail(kMachine, status.message()) : fail(status);
}

}  // namespace

int run_import(const ImportWords& words) {
  // Checked before anything is created, so that a wrong name does not create a store.
  if (Status named = check_place(words.place); !named.ok()) return fail(named);
  stop_reading_on_signals();
  const Result<std::vector<std::string>> files = files_of(words.files);
  if (!files.ok()) return fail(files.status());
  if (const Status checked = check_files(words.rules, *files); !checked.ok()) return fail_to_open(checked);
  ImportTexts texts(words.rules, *files);
  Result<std::optional<OpenText>> first = texts.next();
  if (!first.ok()) return fail_to_open(first.status());
  std::optional<OpenText>& open = *first;
  if (stop_signal_seen() != 0 && (!open || open->lines->end() == InputEnd::kSignal)) {
    std::cerr << "varve: stopped by a signal before the first row of "
              << (open ? shown(open->name) : std::string("the input")) << "; nothing was imported; run it again\n";
    return 128 + stop_signal_seen();
  }
  if (!open) report_left_out(texts);
  if (!open) return fail(kRefused, "there is no text to import; --format reads members of any name");
  Input input{std::move(texts), *std::move(open)};
  RefusalReport refusals(words.errors_shown_max);
  return words.dry_run ? run_dry(words, refusals, input) : import_rows(words, refusals, input);
}

}  // namespace varve::tool
