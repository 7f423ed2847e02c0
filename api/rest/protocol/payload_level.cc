#include "api/rest/protocol/payload_level.h"

#include <algorithm>
#include <array>

#include "api/rest/protocol/media_type.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

/// A text that clients usually send. Its level is the one that a reading of the text gives, which takes far longer.
struct UsualText {
  std::string_view text;
  PayloadLevel level;
};
constexpr std::array<UsualText, 4> kUsualTexts = {{{"application/json;odata=nometadata", PayloadLevel::kNone},
                                                   {"application/json;odata=minimalmetadata", PayloadLevel::kMinimal},
                                                   {"application/json;odata=fullmetadata", PayloadLevel::kFull},
                                                   {"application/json", PayloadLevel::kMinimal}}};

Result<PayloadLevel> level_of_json(const MediaType& media) {
  const std::string* const parameter = media.find("odata");
  if (parameter == nullptr) return PayloadLevel::kMinimal;
  const std::string level = lower_case(*parameter);
  if (level == "nometadata") return PayloadLevel::kNone;
  if (level == "minimalmetadata") return PayloadLevel::kMinimal;
  if (level == "fullmetadata") return PayloadLevel::kFull;
  if (level == "verbose") return refused("JsonVerboseFormatNotSupported", "verbose JSON is not supported");
  return refused("MediaTypeNotSupported", "the odata parameter must be nometadata, minimalmetadata or fullmetadata");
}

Status unsupported() {
  return refused("MediaTypeNotSupported", "no media type in Accept or $format is supported; ask for application/json");
}

/// Returns whether the client excludes the type: `q=0`, perhaps with zeros after a point.
bool is_excluded(const MediaType& media) {
  const std::string* const quality = media.find("q");
  return quality != nullptr && !quality->empty() && quality->find_first_not_of("0.") == std::string::npos;
}

/// Returns the level of one element of a list. `json` and `atom` are the short forms of `$format`.
Result<PayloadLevel> level_of(std::string_view element) {
  const std::string lower = lower_case(element);
  if (lower == "json") return PayloadLevel::kMinimal;
  const std::optional<MediaType> media =
      lower == "atom" ? MediaType{"application/atom+xml"} : parse_media_type(element);
  if (!media || is_excluded(*media)) return unsupported();
  if (media->type == "application/json") return level_of_json(*media);
  if (media->type == "*/*" || media->type == "application/*") return PayloadLevel::kMinimal;
  if (media->type == "application/atom+xml") {
    return refused("AtomFormatNotSupported", "Atom is not supported; ask for JSON");
  }
  return unsupported();
}

bool is_utf8(const std::string* charset) {
  return charset == nullptr || equal_ignoring_case(*charset, "utf-8") || equal_ignoring_case(*charset, "utf8") ||
         equal_ignoring_case(*charset, "us-ascii");
}

}  // namespace

Result<PayloadLevel> choose_level(const std::optional<std::string>& format, const std::string* accept) {
  const std::string_view asked = format              ? std::string_view(*format)
                                 : accept != nullptr ? std::string_view(*accept)
                                                     : "";
  if (trimmed(asked).empty()) return PayloadLevel::kMinimal;
  const auto* const usual =
      std::find_if(kUsualTexts.begin(), kUsualTexts.end(), [asked](const UsualText& one) { return one.text == asked; });
  if (usual != kUsualTexts.end()) return usual->level;
  std::string_view rest = asked;
  Result<PayloadLevel> first = level_of(take_list_element(rest));
  while (!first.ok() && !rest.empty()) {
    const Result<PayloadLevel> next = level_of(take_list_element(rest));
    if (next.ok()) return next;
  }
  return first;
}

Result<PayloadLevel> requested_level(const HttpRequest& request, bool answers_with_entity) {
  const Result<std::optional<std::string>> format = query_value(request.head.query, "$format");
  if (!format.ok()) return format.status();
  const std::optional<std::string> accept = joined_header(request.head.headers, "accept");
  const Result<PayloadLevel> level = choose_level(*format, accept ? &*accept : nullptr);
  if (level.ok() || answers_with_entity || *format) return level;
  return PayloadLevel::kMinimal;
}

std::string_view content_type(PayloadLevel level) noexcept {
  switch (level) {
    case PayloadLevel::kNone: return "application/json;odata=nometadata;streaming=true;charset=utf-8";
    case PayloadLevel::kMinimal: return "application/json;odata=minimalmetadata;streaming=true;charset=utf-8";
    case PayloadLevel::kFull: break;
  }
  return "application/json;odata=fullmetadata;streaming=true;charset=utf-8";
}

Status check_json_type(const std::string* content_type) {
  if (content_type == nullptr || trimmed(*content_type).empty()) return Status();
  if (*content_type == "application/json") return Status();  // the usual text
  const std::optional<MediaType> media = parse_media_type(*content_type);
  if (media && media->type == "application/atom+xml") {
    return refused("AtomFormatNotSupported", "Atom is not supported; send JSON");
  }
  if (media && media->type == "application/json" && is_utf8(media->find("charset"))) return Status();
  return refused("MediaTypeNotSupported", "Content-Type must be application/json in UTF-8");
}

Status check_xml_type(const std::string* content_type) {
  if (content_type == nullptr || trimmed(*content_type).empty()) return Status();
  const std::optional<MediaType> media = parse_media_type(*content_type);
  if (media && is_utf8(media->find("charset"))) return Status();
  return refused("MediaTypeNotSupported", "Content-Type must be a media type in UTF-8, such as application/xml");
}

}  // namespace varve::serve
