// Owns: the comparison of a queue's rows with each other (queue_check.h).
// Must never: complain of a kind of row that a later build may have added.
#include "api/queue/queue_check.h"

#include <string>

#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

Status wrong(std::string_view what) {
  return Status::corruption(what);
}

Status differs(std::string_view what, std::uint64_t found, std::uint64_t expected) {
  return wrong("the queue has " + std::to_string(found) + " " + std::string(what) + ", but " +
               std::to_string(expected) + " are needed");
}

}  // namespace

Status QueueCheck::visit(std::string_view key, format::CommitVersion version, std::string_view value) {
  switch (key[format::kTableIdBytes]) {
    case 'W': return visit_waiting(key, version, value);
    case 'P': {
      const Result<MessagePlace> place = decode_place(value);
      if (!place.ok()) return place.status();
      ++places_;
      if (place->expires < limits::kDateTimeTicksMax) ++expiring_;
      if (place->is_apart) ++apart_;
      text_bytes_ += place->text_bytes;
      return Status();
    }
    case 'C': {
      const Result<MessageCount> count = decode_message_count(value);
      if (!count.ok()) return count.status();
      counted_.messages += count->messages;
      counted_.text_bytes += count->text_bytes;
      return Status();
    }
    case 'E': ++expiries_; return decode_timed_key(key).status();
    case 'T': ++texts_; return decode_text(value).status();
    case 'D': return decode_deduplication(value).status();
    default: return Status();
  }
}

Status QueueCheck::visit_waiting(std::string_view key, format::CommitVersion version, std::string_view value) {
  ++waiting_;
  const Result<TimedPlace> at = decode_timed_key(key);
  if (!at.ok()) return at.status();
  const Result<WaitingMessage> message = decode_waiting(value);
  if (!message.ok()) return message.status();
  const auto found = view_->get(place_key(id_, at->sequence));
  if (!found.ok()) return found.status();
  if (!*found) return wrong("a message has no place row, so nobody can delete it");
  const Result<MessagePlace> place = decode_place((*found)->value);
  if (!place.ok()) return place.status();
  if ((*found)->version != version || place->visible != at->time || place->expires != message->expires) {
    return wrong("a message and its place row are not of one commit");
  }
  if (message->is_apart != place->is_apart || (!message->is_apart && message->text.size() != place->text_bytes)) {
    return wrong("a message's text is not as long as its place row says");
  }
  return Status();
}

Status QueueCheck::finish() const {
  if (places_ != waiting_) return differs("rows of places", places_, waiting_);
  if (expiries_ != expiring_) return differs("rows of expiries", expiries_, expiring_);
  if (texts_ != apart_) return differs("rows of texts", texts_, apart_);
  if (counted_.messages != static_cast<std::int64_t>(waiting_)) {
    return wrong("the counters say " + std::to_string(counted_.messages) + " messages, but the queue has " +
                 std::to_string(waiting_));
  }
  if (counted_.text_bytes == text_bytes_) return Status();
  return wrong("the counters say " + std::to_string(counted_.text_bytes) + " bytes of text, but the queue has " +
               std::to_string(text_bytes_));
}

}  // namespace varve
