// Owns: the commands (shell.h).
// Must never: print a stored text to a terminal without escapes.
#include "tools/varve/shell/shell.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/entity_json.h"
#include "tools/varve/text/entity_table.h"
#include "tools/varve/text/store_text.h"
#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

constexpr std::size_t kAnyNumber = SIZE_MAX;

/// Returns the entity of the NAME=VALUE words after the keys.
Result<Entity> entity_of(const std::vector<LineWord>& words) {
  Entity entity(words[1].text, words[2].text);
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status::invalid_argument("a property must be NAME=VALUE, not \"" + word + "\"");
    }
    entity.add(word.substr(0, equals), infer_value(std::string_view(word).substr(equals + 1)));
  }
  return entity;
}

}  // namespace

Shell::Shell(Store& store, Place place, std::uint64_t rows_max)
    : store_(store), place_(std::move(place)), rows_max_(rows_max) {}

const std::vector<Shell::Command>& Shell::commands() {
  static const std::vector<Command> all = {
      {"use", "use TABLE [ACCOUNT]", "Choose the table to work on", 1, 2, &Shell::use},
      {"tables", "tables", "Print the names of the account's tables", 0, 0, &Shell::tables},
      {"query", "query [--select A,B] [--top N] [--backward] [FILTER]", "Print entities, page by page", 0, kAnyNumber,
       &Shell::query},
      {"more", "more", "Print the next page of the query", 0, 0, &Shell::more},
      {"get", "get PARTITION_KEY ROW_KEY", "Print one entity", 2, 2, &Shell::get},
      {"count", "count [FILTER]", "Print how many entities match", 0, kAnyNumber, &Shell::count},
      {"insert", "insert PARTITION_KEY ROW_KEY [NAME=VALUE ...]", "Insert a new entity", 2, kAnyNumber, &Shell::insert},
      {"delete", "delete PARTITION_KEY ROW_KEY", "Delete one entity", 2, 2, &Shell::remove},
      {"stats", "stats", "Print figures of the store", 0, 0, &Shell::stats},
      {"help", "help", "Print this list; `exit` or the end of input ends the shell", 0, 0, &Shell::help},
  };
  return all;
}

void Shell::refuse(std::string_view reason) {
  std::cout.flush();
  std::cerr << "error: " << show_text(reason, SIZE_MAX).text << "\n";
  ++failures_;
}

bool Shell::run(const std::string& line) {
  const Result<Words> words = split_line(line);
  const auto failed = [this](std::string_view what) {
    refuse(what);
    return true;
  };
  if (!words.ok()) return failed(words.status().message());
  if (words->empty() || words->front().text.starts_with('#')) return true;
  const std::string& name = words->front().text;
  if (name == "exit" || name == "quit") return false;
  const auto command =
      std::find_if(commands().begin(), commands().end(), [&](const Command& known) { return known.name == name; });
  if (command == commands().end()) return failed("there is no command \"" + name + "\"; `help` lists the commands");
  const std::size_t given = words->size() - 1;
  if (given < command->words_min || given > command->words_max) return failed("usage: " + std::string(command->usage));
  const Progress timer("", 0);
  const Status done = (this->*command->run)(line, *words);
  if (!done.ok()) {
    refuse(done.to_string());
    print_hint(done.hint());
    return true;
  }
  std::cout.flush();
  if (command->run != &Shell::help) std::cerr << "(" << duration_text(timer.elapsed()) << ")\n";
  return true;
}

std::string Shell::prompt() const {
  return (place_.table.empty() ? "varve" : place_.table) + "> ";
}

std::vector<std::string> Shell::complete(std::string_view before, std::string_view begun) const {
  std::vector<std::string> found;
  const auto add = [&](std::string_view name) {
    if (name.starts_with(begun)) found.emplace_back(name);
  };
  const Result<Words> words = split_line(before);
  if (words.ok() && words->empty()) {
    for (const Command& command : commands()) add(command.name);
    add("exit");
    return found;
  }
  if (words.ok() && words->front().text == "use") {
    const Result<std::vector<std::string>> names = table_names();
    if (!names.ok()) return found;
    for (const std::string& name : *names) add(name);
    return found;
  }
  for (const std::string_view name : {"PartitionKey", "RowKey", "Timestamp", "--select", "--top", "--backward"})
    add(name);
  for (const std::string& name : property_names_) add(name);
  return found;
}

Result<Table> Shell::table() const {
  if (place_.table.empty())
    return Status::invalid_argument("no table is chosen; choose one with `use TABLE`; `tables` lists them");
  return store_.open_table(place_.account, place_.table);
}

Result<std::vector<std::string>> Shell::table_names() const {
  std::vector<std::string> names;
  ListOptions options;
  for (;;) {
    const Result<TablePage> page = store_.list_tables(place_.account, options);
    if (!page.ok()) return page.status();
    for (const TableInfo& table : page->tables) names.push_back(table.name);
    if (!page->continuation) return names;
    options.continuation = *page->continuation;
  }
}

Status Shell::use(const std::string& /*line*/, const Words& words) {
  const std::string account = words.size() > 2 ? words[2].text : place_.account;
  const Result<Table> opened = store_.open_table(account, words[1].text);
  if (!opened.ok()) return opened.status();
  place_.account = account;
  place_.table = opened->name();
  open_query_.reset();
  property_names_.clear();
  // A few entities provide the property names for completion.
  Scan scan;
  scan.page_entities_max = 20;
  const Result<Page> first = opened->scan(scan);
  if (first.ok()) learn_names(first->entities);
  return first.status();
}

Status Shell::tables(const std::string& /*line*/, const Words& /*words*/) {
  const Result<std::vector<std::string>> names = table_names();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) std::cout << name << "\n";
  return Status();
}

Status Shell::query(const std::string& line, const Words& words) {
  Result<AskedQuery> asked = parse_query_line(line, words);
  if (!asked.ok()) return asked.status();
  Scan scan;
  scan.filter = std::move(asked->filter);
  scan.read.select = std::move(asked->select);
  scan.backward = asked->backward;
  open_query_ = std::move(scan);
  rows_left_ = asked->top == 0 ? UINT64_MAX : asked->top;
  return print_page();
}

Status Shell::more(const std::string& /*line*/, const Words& /*words*/) {
  if (!open_query_) return Status::invalid_argument("there is no next page; start a query with `query`");
  return print_page();
}

Status Shell::print_page() {
  const Result<Table> table = this->table();
  if (!table.ok()) return table.status();
  EntityTable shown(std::cout, open_query_->read.select, output_columns());
  std::uint64_t rows = 0;
  const std::uint64_t rows_wanted = std::min(rows_max_, rows_left_);
  bool more = true;
  while (more && rows < rows_wanted) {
    open_query_->page_entities_max =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(rows_wanted - rows, limits::kPageEntitiesMax));
    const Result<Page> page = table->scan(*open_query_);
    if (!page.ok()) {
      open_query_.reset();
      return page.status();
    }
    learn_names(page->entities);
    if (is_terminal_output()) {
      shown.print(page->entities);
    } else {
      for (const Entity& entity : page->entities) std::cout << entity_to_json(entity) << "\n";
    }
    rows += page->entities.size();
    more = page->continuation.has_value();
    if (more) open_query_->continuation = *page->continuation;
  }
  rows_left_ -= rows;
  std::cout.flush();
  more = more && rows_left_ > 0;
  std::cerr << counted(rows, "entity", "entities") << (more ? "; `more` prints the next page" : "") << "\n";
  if (!more) open_query_.reset();
  return Status();
}

void Shell::learn_names(const std::vector<Entity>& entities) {
  for (const Entity& entity : entities) {
    for (const Property& property : entity.properties()) property_names_.insert(property.name);
  }
}

Status Shell::get(const std::string& /*line*/, const Words& words) {
  const Result<Table> table = this->table();
  if (!table.ok()) return table.status();
  const Result<std::optional<Entity>> entity = table->get(words[1].text, words[2].text);
  if (!entity.ok()) return entity.status();
  if (!*entity) return Status::not_found("the entity does not exist");
  const std::string text = entity_to_json(**entity);
  std::cout << (is_terminal_output() ? show_text(text, SIZE_MAX).text : text) << "\n";
  return Status();
}

Status Shell::count(const std::string& line, const Words& words) {
  const Result<Table> table = this->table();
  if (!table.ok()) return table.status();
  Scan scan;
  if (words.size() > 1) scan.filter = line.substr(words[1].begin);
  std::uint64_t entities = 0;
  for (;;) {
    const Result<Count> part = table->count(scan);
    if (!part.ok()) return part.status();
    entities += part->entities;
    if (!part->continuation) break;
    scan.continuation = *part->continuation;
  }
  std::cout << entities << "\n";
  return Status();
}

Status Shell::insert(const std::string& /*line*/, const Words& words) {
  Result<Table> table = this->table();
  if (!table.ok()) return table.status();
  const Result<Entity> entity = entity_of(words);
  if (!entity.ok()) return entity.status();
  const Result<ETag> etag = table->insert(*entity);
  if (etag.ok()) std::cout << etag->to_string() << "\n";
  return etag.status();
}

Status Shell::remove(const std::string& /*line*/, const Words& words) {
  Result<Table> table = this->table();
  if (!table.ok()) return table.status();
  return table->remove(words[1].text, words[2].text, ETag::any());
}

Status Shell::stats(const std::string& /*line*/, const Words& /*words*/) {
  const Result<Statistics> figures = store_.statistics();
  if (!figures.ok()) return figures.status();
  std::cout << "commits   " << with_commas(figures->commits) << "\n"
            << "memory    " << counted(figures->memtable_entries, "entry", "entries") << ", "
            << bytes_text(figures->memtable_bytes) << "\n"
            << "tables    " << counted(table_files_of(*figures), "file", "files") << ", "
            << bytes_text(table_bytes_of(*figures)) << "\n"
            << "cache     " << bytes_text(figures->cache.bytes) << ", " << with_commas(figures->cache.hits) << " hits, "
            << with_commas(figures->cache.misses) << " misses\n";
  return Status();
}

Status Shell::help(const std::string& /*line*/, const Words& /*words*/) {
  std::size_t width = 0;
  for (const Command& command : commands()) width = std::max(width, command.usage.size());
  for (const Command& command : commands()) {
    std::cout << command.usage << std::string(width - command.usage.size() + 2, ' ') << command.about << "\n";
  }
  return Status();
}

}  // namespace varve::tool
