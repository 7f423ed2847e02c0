// Owns: the calls of the C interface that turn texts into values and values into texts, and those about the library.
#include <cstring>
#include <string>

#include "api/c/call.h"
#include "api/c/values.h"
#include "varve/limits.h"
#include "varve/types.h"
#include "varve/version.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

Status give_text(const std::string& text, char* given) {
  if (given == nullptr) return null_pointer("text");
  if (text.size() >= VARVE_FORMAT_BYTES) return Status::too_large("the text is longer than VARVE_FORMAT_BYTES");
  std::memcpy(given, text.c_str(), text.size() + 1);
  return Status();
}

}  // namespace
}  // namespace varve::c

varve_text varve_text_of(const char* zero_terminated) {
  return {zero_terminated, zero_terminated == nullptr ? 0 : std::strlen(zero_terminated)};
}

const char* varve_type_name(varve_type type) {
  if (type < VARVE_BINARY || type > VARVE_LARGE_VALUE) return "?";
  return varve::property_type_name(static_cast<varve::PropertyType>(type)).data();  // a literal, so a zero follows it
}

varve_status* varve_etag_parse(varve_text text, varve_etag* etag) {
  return vc::guarded_call([&]() -> varve::Status {
    if (etag == nullptr) return vc::null_pointer("etag");
    *etag = VARVE_ETAG_NONE;
    const varve::Result<std::string_view> read = vc::read_text(text, "text");
    if (!read.ok()) return read.status();
    const varve::Result<varve::ETag> parsed = varve::ETag::parse(*read);
    if (!parsed.ok()) return parsed.status();
    *etag = vc::from_etag(*parsed);
    return varve::Status();
  });
}

varve_status* varve_etag_format(varve_etag etag, char text[VARVE_FORMAT_BYTES]) {
  return vc::guarded_call([&] { return vc::give_text(vc::to_etag(etag).to_string(), text); });
}

varve_status* varve_datetime_parse(varve_text text, varve_datetime* time) {
  return vc::guarded_call([&]() -> varve::Status {
    if (time == nullptr) return vc::null_pointer("time");
    *time = 0;
    const varve::Result<std::string_view> read = vc::read_text(text, "text");
    if (!read.ok()) return read.status();
    const varve::Result<varve::DateTime> parsed = varve::DateTime::parse(*read);
    if (!parsed.ok()) return parsed.status();
    *time = parsed->ticks;
    return varve::Status();
  });
}

varve_status* varve_datetime_format(varve_datetime time, char text[VARVE_FORMAT_BYTES]) {
  return vc::guarded_call([&]() -> varve::Status {
    if (time > varve::limits::kDateTimeTicksMax) {
      return varve::Status::invalid_argument("the time is after the year 9999");
    }
    return vc::give_text(varve::DateTime{time}.to_string(), text);
  });
}

varve_status* varve_guid_parse(varve_text text, varve_guid* guid) {
  return vc::guarded_call([&]() -> varve::Status {
    if (guid == nullptr) return vc::null_pointer("guid");
    *guid = {};
    const varve::Result<std::string_view> read = vc::read_text(text, "text");
    if (!read.ok()) return read.status();
    const varve::Result<varve::Guid> parsed = varve::Guid::parse(*read);
    if (!parsed.ok()) return parsed.status();
    std::memcpy(guid->bytes, parsed->bytes.data(), parsed->bytes.size());
    return varve::Status();
  });
}

varve_status* varve_guid_format(varve_guid guid, char text[VARVE_FORMAT_BYTES]) {
  return vc::guarded_call([&] {
    varve::Guid read;
    std::memcpy(read.bytes.data(), guid.bytes, read.bytes.size());
    return vc::give_text(read.to_string(), text);
  });
}

const char* varve_version(void) {
  return VARVE_VERSION;
}

size_t varve_handle_count(void) {
  return vc::open_handles();
}
