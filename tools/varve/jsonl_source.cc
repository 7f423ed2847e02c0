#include "tools/varve/row_source.h"

namespace varve::tool {

namespace {

class JsonlSource final : public RowSource {
 public:
  JsonlSource(Lines& lines, RowShape shape) : lines_(lines), shape_(std::move(shape)) {}

  std::optional<Row> next() override {
    while (lines_.next(&line_)) {
      if (line_.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (lines_.too_long()) return Row{lines_.number(), Status::too_large("the line is over 16 MiB")};
      return Row{lines_.number(), entity_from_json(line_, shape_)};
    }
    return std::nullopt;
  }

 private:
  Lines& lines_;
  RowShape shape_;
  std::string line_;
};

}  // namespace

std::unique_ptr<RowSource> make_jsonl_source(Lines& lines, RowShape shape) {
  return std::make_unique<JsonlSource>(lines, std::move(shape));
}

}  // namespace varve::tool
