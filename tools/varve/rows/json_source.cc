#include <utility>

#include "tools/varve/rows/json_records.h"
#include "tools/varve/rows/json_row.h"
#include "tools/varve/rows/row_source.h"

namespace varve::tool {

namespace {

class JsonSource final : public RowSource {
 public:
  JsonSource(Lines& lines, RowShape shape, std::optional<std::vector<std::string>> path)
      : lines_(lines), shape_(std::move(shape)), records_(std::move(path)) {}

  std::optional<Row> next() override {
    for (;;) {
      if (std::optional<JsonRecord> record = records_.next()) return row_of(*record);
      if (ended_) return std::nullopt;
      read();
    }
  }

  Status fault() const override { return fault_; }

 private:
  void read() {
    const std::string_view bytes = lines_.take_bytes();
    if (!bytes.empty()) {
      fault_ = records_.take(bytes);
      ended_ = !fault_.ok();
      return;
    }
    ended_ = true;
    if (lines_.end() == InputEnd::kEndOfFile) fault_ = records_.finish();
  }

  Row row_of(const JsonRecord& record) {
    ++rows_;
    const bool is_alone = std::exchange(last_line_, record.line) != record.line;
    const std::uint64_t number = is_alone ? 0 : rows_;
    if (record.too_long) {
      return Row{record.line,
                 record.last_line,
                 Status::too_large(std::string("the record is longer than 16 MiB, the most that is allowed") +
                                   (record.is_root ? "; if it contains the rows, name their place by --records" : "")),
                 0,
                 RowFault::kTooLong,
                 number};
    }
    JsonRowFault fault;
    std::vector<std::string> contents;
    Result<Entity> entity =
        entity_from_json(record.text, shape_, {record.line, rows_, shape_.file, record.name}, fault, &contents);
    return Row{record.line, record.last_line, std::move(entity),  fault.shape_fault,
               fault.kind,  number,           std::move(contents)};
  }

  Lines& lines_;
  RowShape shape_;
  JsonRecords records_;
  std::uint64_t rows_ = 0;
  std::uint64_t last_line_ = 0;  // on which the last record began
  Status fault_;
  bool ended_ = false;
};

}  // namespace

Result<std::unique_ptr<RowSource>> make_json_source(Lines& lines, RowShape shape,
                                                    const std::optional<std::string>& records) {
  std::optional<std::vector<std::string>> path;
  if (records) {
    Result<std::vector<std::string>> parsed = parse_record_path(*records);
    if (!parsed.ok()) return parsed.status();
    path = *std::move(parsed);
  }
  return std::unique_ptr<RowSource>(std::make_unique<JsonSource>(lines, std::move(shape), std::move(path)));
}

}  // namespace varve::tool
