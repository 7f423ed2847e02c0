#include <utility>

#include "tools/varve/rows/json_row.h"
#include "tools/varve/rows/row_source.h"

namespace varve::tool {

namespace {

class JsonlSource final : public RowSource {
 public:
  JsonlSource(Lines& lines, RowShape shape) : lines_(lines), shape_(std::move(shape)) {}

  std::optional<Row> next() override {
    while (lines_.next(&line_)) {
      if (line_.find_first_not_of(" \t\r") == std::string::npos) continue;
      const std::uint64_t line = lines_.number();
      ++rows_;
      if (lines_.too_long())
        return Row{line, line, Status::too_large("the line is longer than 16 MiB, the most that is allowed"), 0,
                   RowFault::kTooLong};
      JsonRowFault fault;
      std::vector<std::string> contents;
      Result<Entity> entity = entity_from_json(line_, shape_, {line, rows_, shape_.file, {}}, fault, &contents);
      return Row{line, line, std::move(entity), fault.shape_fault, fault.kind, 0, std::move(contents)};
    }
    return std::nullopt;
  }

 private:
  Lines& lines_;
  RowShape shape_;
  std::string line_;
  std::uint64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> make_jsonl_source(Lines& lines, RowShape shape) {
  return std::make_unique<JsonlSource>(lines, std::move(shape));
}

}  // namespace varve::tool
