// Pattern: large entities. A value has at most 64 KiB and an entity 1 MiB. A larger document is cut into pieces with
// numbered RowKeys. A head entity contains their number, and is written last, so that a reader that finds it finds all
// pieces.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

constexpr std::size_t kPieceBytes = 65'536;

std::string piece_key(std::string_view revision, std::uint64_t piece) {
  return Example::must(composite_key({revision, Example::must(zero_padded(piece, 6))}));
}

// [shown]
/// Writes the pieces of a new revision first, and then the head, which names the revision.
Status store_document(Table& table, const std::string& name, const std::string& revision, const std::string& bytes) {
  EntityGroupTransaction pieces;
  std::int64_t count = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes, ++count) {
    Entity piece(name, piece_key(revision, static_cast<std::uint64_t>(count)));
    pieces.insert_or_replace(std::move(piece.set("Bytes", Binary{bytes.substr(at, kPieceBytes)})));
  }
  if (Status written = execute_in_parts(table, pieces.operations()).status; !written.ok()) return written;
  Entity head(name, "head");
  head.set("Revision", revision).set("Pieces", count).set("Size", static_cast<std::int64_t>(bytes.size()));
  return table.insert_or_replace(head).status();
}
// [/shown]

// [shown]
std::string read_document(const Table& table, const std::string& name) {
  const Entity head = Example::must(table.get(name, "head"));
  Query<> pieces;
  pieces.in(ScanRange::rows_with_prefix(name, Example::must(composite_prefix({*head.get<std::string>("Revision")}))));
  std::string bytes;
  for (const Result<Entity>& piece : pieces.run(table)) bytes += (*Example::must(piece).get<Binary>("Bytes")).bytes;
  return bytes;
}
// [/shown]

}  // namespace

int main() {
  Example example("Large entities: a document of 6 MB in pieces of 64 KiB");
  Table documents = example.table("Documents");
  std::string first(6'000'000, '\0');
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<char>(i * 7 % 251);

  const Status refused = documents.insert(Entity("manual", "head").set("Bytes", Binary{first})).status();
  example.show(refused.service_error() == "PropertyValueTooLarge", "one property cannot hold it");

  Example::must(store_document(documents, "manual", "r1", first));
  example.show(read_document(documents, "manual") == first, "92 pieces come back as one");
  example.reads(1 + 92);

  const std::string second(1'000'000, 'x');
  Example::must(store_document(documents, "manual", "r2", second));
  example.show(read_document(documents, "manual") == second, "a new revision is there whole, from its head on");
  const Entity old = Example::must(documents.get("manual", piece_key("r1", 0)));
  example.show(old.get<Binary>("Bytes").ok(),
               "the pieces of the old one are there until somebody deletes them: no reader is cut off");
  return example.end();
}
