// Owns: error strings that are no string literals, one chosen by MISTAKE. The test checks the compiler's message.
#include <string>
#include <string_view>

#include <varve/varve.h>

varve::Status use(const varve::Status& status, const std::string& text) {
#if MISTAKE == 0  // no mistake: a literal, a name of the program, and that of another status
  static constexpr char kName[] = "EntityAlreadyExists";
  const varve::Status named = status.with_service_error("EntityAlreadyExists").with_service_error(kName);
  return status.with_service_error(named.error_name());
#elif MISTAKE == 1
  return status.with_service_error(text);
#elif MISTAKE == 2
  return status.with_service_error(std::string_view(text));
#elif MISTAKE == 3
  return status.with_service_error(text.c_str());
#elif MISTAKE == 4
  char name[8] = "Changes";
  name[0] = text[0];
  return status.with_service_error(name);
#endif
}
