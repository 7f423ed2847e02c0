#include "tools/varve/queue/message_verbs.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/varve/input/file_input.h"
#include "tools/varve/input/lines.h"
#include "tools/varve/queue/duration.h"
#include "tools/varve/queue/message_text.h"
#include "tools/varve/queue/named_queue.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "varve/limits.h"

namespace varve::tool {

namespace {

/// A text in the line, or in a file.
struct TextWords {
  std::string text;
  CLI::Option* given = nullptr;
  std::string file;

  bool is_given() const { return given != nullptr && given->count() > 0; }
};

struct MessageWords {
  QueuePlace place;
  TextWords text;
  std::string id;
  std::string receipt;
  std::string durability;
  PutOptions put;
  std::string deduplication_key;
  GetOptions get;
  std::string dead_letter;
  bool has_lines = false;
  bool deletes = false;
  bool texts_alone = false;
  bool json = false;
  /// The hold of an update.
  std::chrono::milliseconds hold{0};

  MessageForm form() const noexcept {
    if (json) return MessageForm::kJson;
    return texts_alone ? MessageForm::kText : MessageForm::kPeople;
  }
};

// -- Texts ------------------------------------------------------------------------------------------------------------

/// Reads a whole file, or standard input if it is "-". Errors: kIoError; kTooLarge (no message may be so long);
/// kCancelled (a signal).
Result<std::string> whole_file(const std::string& path) {
  Result<std::unique_ptr<FileInput>> input = FileInput::open(path);
  if (!input.ok()) return input.status();
  std::string content;
  std::string room(kReadBytes, '\0');
  while (const std::size_t size = (*input)->read(room.data(), room.size())) {
    content.append(room, 0, size);
    if (content.size() > limits::kMessageBytesMaxLimit) {
      return Status::too_large((*input)->name() + " is longer than any message may be (" +
                               std::to_string(limits::kMessageBytesMaxLimit) +
                               " bytes); put the content elsewhere, and "
                               "its name into the message");
    }
  }
  if ((*input)->end() == InputEnd::kSignal) return Status(Code::kCancelled, "a signal ended the reading");
  if ((*input)->end() == InputEnd::kError) return (*input)->status();
  return content;
}

/// Returns the text of the words, or no text if they have none.
Result<std::optional<std::string>> text_of(const TextWords& words) {
  if (words.is_given()) return std::optional<std::string>(words.text);
  if (words.file.empty()) return std::optional<std::string>();
  Result<std::string> content = whole_file(words.file);
  if (!content.ok()) return content.status();
  return std::optional<std::string>(*std::move(content));
}

// -- put --------------------------------------------------------------------------------------------------------------

int put_one(QueueAccess& queue, const MessageWords& words, std::string_view text, const PutOptions& options) {
  const Result<PutAnswer> sent = queue.put(text, options);
  if (!sent.ok()) return fail(with_nearest_queues(queue, words.place, sent.status()));
  print_sent(*sent, words.json);
  return kSuccess;
}

/// Puts each line of the file as a message. A failure names the line.
int put_each_line(QueueAccess& queue, const MessageWords& words, const PutOptions& options) {
  Result<Lines> lines = Lines::open(words.text.file);
  if (!lines.ok()) return fail(lines.status());
  std::string line;
  while ((*lines).next(&line)) {
    const Result<PutAnswer> sent = (*lines).too_long() ? Status::too_large("the line is longer than any message may be")
                                                       : queue.put(line, options);
    if (sent.status().service_error() == "QueueNotFound") {
      return fail(with_nearest_queues(queue, words.place, sent.status()));
    }
    if (!sent.ok()) return fail(sent.status().in_file("line " + std::to_string((*lines).number())));
    print_sent(*sent, words.json);
  }
  if ((*lines).end() == InputEnd::kSignal) return 128 + (*lines).stop_signal();
  if ((*lines).end() == InputEnd::kError) return fail((*lines).status());
  return kSuccess;
}

/// As put_each_line(). Unless the line chose a durability, one sync at the end makes all messages durable.
int put_lines(QueueAccess& queue, const MessageWords& words, PutOptions options) {
  if (options.durability) return put_each_line(queue, words, options);
  options.durability = Durability::kBuffered;
  const int put = put_each_line(queue, words, options);
  const Status synced = queue.sync();
  return put == kSuccess && !synced.ok() ? fail(synced) : put;
}

int put_message(const MessageWords& words) {
  if (!words.text.is_given() && words.text.file.empty()) {
    return fail(kUsage, "queue put needs TEXT, or --file with a file; --file - is standard input");
  }
  if (words.has_lines && words.text.file.empty())
    return fail(kUsage, "--lines needs --file; --file - is standard input");
  std::optional<std::string> text;
  if (!words.has_lines) {
    Result<std::optional<std::string>> read = text_of(words.text);
    if (!read.ok()) return fail(read.status());
    text = *std::move(read);
  }
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue(words.place);
  if (!queue.ok()) return fail(queue.status());
  PutOptions options = words.put;
  options.deduplication_key = words.deduplication_key;
  options.durability = durability_of(words.durability);
  const int put = text ? put_one(**queue, words, *text, options) : put_lines(**queue, words, options);
  const Status closed = (*queue)->close();
  return put == kSuccess && !closed.ok() ? fail(closed) : put;
}

// -- get, peek --------------------------------------------------------------------------------------------------------

int no_message(const MessageWords& words) {
  return fail(kRefused, "queue " + words.place.queue + " has no visible message");
}

/// Deletes printed messages. The reader of the output has the messages then, so a failed output deletes nothing.
int delete_printed(QueueAccess& queue, const MessageWords& words, const std::vector<HeldMessage>& messages) {
  std::cout.flush();
  if (!std::cout) return fail_output("standard output could not be written, so nothing was deleted");
  WriteOptions options;
  const std::optional<Durability> chosen = durability_of(words.durability);
  options.durability = chosen.value_or(Durability::kBuffered);
  for (const HeldMessage& message : messages) {
    if (const Status removed = queue.remove(message.id, message.receipt, options); !removed.ok()) return fail(removed);
  }
  // One sync makes all of them durable.
  const Status synced = chosen ? Status() : queue.sync();
  return synced.ok() ? kSuccess : fail(synced);
}

/// Returns the failure with the nearest names of the queue, or of the queue for dead letters.
Status with_nearest_of_both(QueueAccess& queue, const MessageWords& words, const Status& failure) {
  const Status hinted = with_nearest_queues(queue, words.place, failure);
  if (!hinted.hint().empty() || words.dead_letter.empty()) return hinted;
  return with_nearest_queues(queue, {words.place.place, words.dead_letter}, failure);
}

int get_messages(const MessageWords& words) {
  if (words.get.deliveries_max != 0 && words.dead_letter.empty()) {
    return fail(kUsage, "--deliveries-max needs --dead-letter with the queue for the messages");
  }
  if (words.get.deliveries_max == 0 && !words.dead_letter.empty()) {
    return fail(kUsage, "--dead-letter needs --deliveries-max with a number of deliveries");
  }
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue(words.place);
  if (!queue.ok()) return fail(queue.status());
  const Result<std::vector<HeldMessage>> messages = (*queue)->get(words.get, words.dead_letter);
  if (!messages.ok()) return fail(with_nearest_of_both(**queue, words, messages.status()));
  if (messages->empty()) {
    const Status closed = (*queue)->close();
    return closed.ok() ? no_message(words) : fail(closed);
  }
  print_messages(*messages, words.form());
  const int deleted = words.deletes ? delete_printed(**queue, words, *messages) : kSuccess;
  const Status closed = (*queue)->close();
  return deleted == kSuccess && !closed.ok() ? fail(closed) : deleted;
}

int peek_messages(const MessageWords& words) {
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue_briefly(words.place);
  if (!queue.ok()) return fail(queue.status());
  const Result<std::vector<Message>> messages = (*queue)->peek(words.get.count);
  if (!messages.ok()) return fail(with_nearest_queues(**queue, words.place, messages.status()));
  if (messages->empty()) return no_message(words);
  page_long_output();
  print_messages(*messages, words.form());
  return kSuccess;
}

// -- delete, update ---------------------------------------------------------------------------------------------------

/// The message of a line.
struct NamedMessage {
  Guid id;
  std::string receipt;
};

Result<NamedMessage> named_message(const MessageWords& words) {
  const Result<Guid> id = Guid::parse(words.id);
  if (!id.ok()) return id.status().in_file("ID \"" + words.id + "\"");
  // Other services than Varve write receipts of another form.
  const Status receipt = is_address(words.place.place.store) ? Status() : PopReceipt::parse(words.receipt).status();
  if (!receipt.ok()) return receipt.in_file("RECEIPT \"" + words.receipt + "\"");
  return NamedMessage{*id, words.receipt};
}

Status with_receipt_hint(const Status& failure) {
  if (failure.service_error() != "MessageNotFound") return failure;
  return failure.with_hint("the message was deleted or has expired, or a later get or update has replaced the receipt");
}

int delete_message(const MessageWords& words) {
  const Result<NamedMessage> message = named_message(words);
  if (!message.ok()) return fail(message.status());
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue(words.place);
  if (!queue.ok()) return fail(queue.status());
  WriteOptions options;
  options.durability = durability_of(words.durability);
  const Status removed = (*queue)->remove(message->id, message->receipt, options);
  if (!removed.ok()) return fail(with_receipt_hint(with_nearest_queues(**queue, words.place, removed)));
  if (const Status closed = (*queue)->close(); !closed.ok()) return fail(closed);
  if (words.json) std::cout << nlohmann::ordered_json{{"deleted", true}}.dump() << "\n";
  return kSuccess;
}

int update_message(const MessageWords& words) {
  const Result<NamedMessage> message = named_message(words);
  if (!message.ok()) return fail(message.status());
  const Result<std::optional<std::string>> text = text_of(words.text);
  if (!text.ok()) return fail(text.status());
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue(words.place);
  if (!queue.ok()) return fail(queue.status());
  WriteOptions options;
  options.durability = durability_of(words.durability);
  std::optional<std::string_view> replaced;
  if (*text) replaced = **text;
  const Result<UpdateAnswer> updated = (*queue)->update(message->id, message->receipt, words.hold, replaced, options);
  if (!updated.ok()) return fail(with_receipt_hint(with_nearest_queues(**queue, words.place, updated.status())));
  if (const Status closed = (*queue)->close(); !closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << nlohmann::ordered_json{{"receipt", updated->receipt}, {"visible", updated->visible.to_string()}}.dump()
              << "\n";
  } else {
    std::cout << updated->receipt << "\n";
  }
  return kSuccess;
}

// -- Words ------------------------------------------------------------------------------------------------------------

CLI::App* add_message_verb(CLI::App& group, const char* name, const char* about, const char* footer,
                           const std::shared_ptr<MessageWords>& words, int (*run)(const MessageWords&),
                           int& exit_code) {
  CLI::App* verb = group.add_subcommand(name, about);
  verb->footer(footer);
  add_queue_words(*verb, words->place);
  verb->callback([words, run, &exit_code] { exit_code = run(*words); });
  return verb;
}

void add_text_file(CLI::App& verb, TextWords& words) {
  verb.add_option("--file", words.file, "File with the text, exactly as it is; - is standard input")
      ->type_name("FILE")
      ->excludes(words.given);
}

void add_message_count(CLI::App& verb, MessageWords& words) {
  verb.add_option("--count", words.get.count, "Largest number of messages, 1 to 32")
      ->check(whole_number(1))
      ->capture_default_str();
}

void add_texts_alone(CLI::App& verb, MessageWords& words, const char* json) {
  CLI::Option* const text =
      verb.add_flag("--text", words.texts_alone, "Print only the texts, each followed by a line feed")
          ->group(kOutputGroup);
  add_json_words(verb, words.json, json);
  text->excludes(verb.get_option("--json"));
}

void add_message_words(CLI::App& verb, MessageWords& words) {
  verb.add_option("ID", words.id, "The message's id, as put and get print it")->required();
  verb.add_option("RECEIPT", words.receipt, "The message's last receipt")->required();
}

void add_queue_put(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<MessageWords>();
  CLI::App* verb = add_message_verb(
      group, "put", "Append a message; prints its id and its receipt",
      "With --lines, each line of the file is a message. The messages are then on the device when the verb "
      "ends, not each when it is printed; --durability sync changes that. A message with the key of an earlier "
      "message is not stored, and has an empty receipt.\n"
      "\nExamples\n"
      "  varve queue put ./shop orders 456\n"
      "  varve queue put ./shop orders --file orders.csv --delay 5m --ttl never\n"
      "  printf '1\\n2\\n' | varve queue put ./shop orders --file - --lines",
      words, &put_message, exit_code);
  words->text.given = verb->add_option("TEXT", words->text.text, "The text of the message");
  add_text_file(*verb, words->text);
  verb->add_flag("--lines", words->has_lines, "Each line of the file is a message");
  add_duration(*verb, "--delay", words->put.delay, "Time for which the message stays hidden: up to 7d. Default: 0s");
  add_duration(*verb, "--ttl", words->put.ttl, "Time after which the message expires, or never. Default: 7d", true);
  verb->add_option("--key", words->deduplication_key,
                   "Store nothing if a message was put with the same key within --key-window");
  add_duration(*verb, "--key-window", words->put.deduplication_window,
               "Time for which the key is remembered. Default: 10m");
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print one JSON object a message");
}

void add_queue_get(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<MessageWords>();
  CLI::App* verb = add_message_verb(
      group, "get", "Print visible messages, and hide them from others for a time",
      "The exit code is 1 if no message is visible. Delete a message with its id and receipt when its work is done; "
      "otherwise it is visible again after --hold. With --delete, each message is deleted after it was printed; if the "
      "output cannot be written, none is deleted.\n"
      "\nExamples\n"
      "  varve queue get ./shop orders\n"
      "  varve queue get ./shop orders --count 32 --hold 5m --json\n"
      "  varve queue get ./shop orders --wait 10s --delete --text",
      words, &get_messages, exit_code);
  add_message_count(*verb, *words);
  add_duration(*verb, "--hold", words->get.hold, "Time for which the messages are hidden: up to 7d. Default: 30s");
  add_duration(*verb, "--wait", words->get.wait, "If no message is visible, time to wait for one. Default: 0s");
  verb->add_flag("--delete", words->deletes, "Delete the messages after printing them");
  verb->add_option("--deliveries-max", words->get.deliveries_max,
                   "Move a message that was delivered this often to --dead-letter instead")
      ->check(whole_number(1));
  verb->add_option("--dead-letter", words->dead_letter, "Queue of the same account for such messages")
      ->type_name("QUEUE");
  add_durability_words(*verb, words->durability);
  add_texts_alone(*verb, *words, "Print one JSON object a message");
}

void add_queue_peek(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<MessageWords>();
  CLI::App* verb = add_message_verb(group, "peek", "Print visible messages, and change nothing",
                                    "The exit code is 1 if no message is visible.\n"
                                    "\nExamples\n"
                                    "  varve queue peek ./shop orders\n"
                                    "  varve queue peek ./shop orders --count 5 --text",
                                    words, &peek_messages, exit_code);
  add_message_count(*verb, *words);
  add_texts_alone(*verb, *words, "Print one JSON object a message");
}

void add_queue_delete(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<MessageWords>();
  CLI::App* verb =
      add_message_verb(group, "delete", "Delete a message for good",
                       "Only the last receipt of the message deletes it. put, get and update print one.\n"
                       "\nExamples\n"
                       "  varve queue delete ./shop orders $(varve queue put ./shop orders 456)\n"
                       "  varve queue delete ./shop orders $(varve queue put ./shop orders 7) --durability sync",
                       words, &delete_message, exit_code);
  add_message_words(*verb, *words);
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print {\"deleted\":true}");
}

void add_queue_update(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<MessageWords>();
  CLI::App* verb =
      add_message_verb(group, "update", "Hide a message anew, or change its text; prints its new receipt",
                       "Without --hold the message is visible at once. The earlier receipts are no longer valid.\n"
                       "\nExamples\n"
                       "  varve queue update ./shop orders $(varve queue put ./shop orders 456) --hold 10m\n"
                       "  varve queue update ./shop orders $(varve queue put ./shop orders 456) --text 457",
                       words, &update_message, exit_code);
  add_message_words(*verb, *words);
  add_duration(*verb, "--hold", words->hold, "Time for which the message is hidden from now on: up to 7d. Default: 0s");
  words->text.given = verb->add_option("--text", words->text.text, "The new text; without it, the text stays");
  add_text_file(*verb, words->text);
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print the new receipt as JSON");
}

}  // namespace

void add_message_verbs(CLI::App& group, int& exit_code) {
  add_queue_put(group, exit_code);
  add_queue_get(group, exit_code);
  add_queue_peek(group, exit_code);
  add_queue_delete(group, exit_code);
  add_queue_update(group, exit_code);
}

}  // namespace varve::tool
