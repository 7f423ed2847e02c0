// Owns: the examples that docs/library.md shows, word for word, each between two marks. The test of the installed package
// compiles them.
// Must never: need more than the public headers.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <varve/async.h>
#include <varve/encryption/encrypted_table.h>
#include <varve/query_builder.h>
#include <varve/security/session.h>
#include <varve/security/table_sas.h>
#include <varve/store.h>
#include <varve/typed_table.h>

// [struct]
struct Order {
  std::string region, number, customer;
  double total = 0;
  varve::ETag etag;
};

template <>
inline constexpr auto varve::mapping<Order> =
    varve::mapped::members(varve::mapped::partition_key(&Order::region), varve::mapped::row_key(&Order::number),
                           varve::mapped::property("Customer", &Order::customer),
                           varve::mapped::property("Total", &Order::total), varve::mapped::etag(&Order::etag));
// [/struct]

varve::Status typed(varve::Table table) {
  // [query]
  using varve::field;
  varve::TypedTable<Order> orders(table);
  for (auto& order : orders.query(field<&Order::region>() == "eu" && field<&Order::total>() > 100.0)) {
    if (!order.ok()) return order.status();
    order->total *= 0.9;
    if (auto saved = orders.replace(*order); !saved.ok()) return saved.status();  // if nobody changed it in between
  }
  // [/query]
  return {};
}

varve::Status loop(const varve::Table& table, const varve::Scan& scan, void (*print)(const varve::Entity&)) {
  // [loop]
  varve::Result<varve::Page> page = table.scan(scan);
  if (!page.ok()) return page.status();
  for (const varve::Entity& entity : page->entities) print(entity);  // `table.scan(scan)->entities` does not compile
  // [/loop]
  return {};
}

varve::Status patches(varve::Table stock, varve::Status (*sold_out)()) {
  // [patch]
  varve::Patch sale("eu", "0007");
  sale.increment("Quantity", -5).set("LastSale", varve::DateTime::now()).remove("Reserved").only_if("Quantity ge 5");
  varve::Result<varve::Entity> item = stock.patch(sale, varve::ETag::any());
  if (item.status().service_error() == "ConditionNotMet") return sold_out();
  // [/patch]
  return item.status();
}

// [task]
varve::Task<varve::Status> archive(varve::AsyncTable from, varve::AsyncTable to, std::string key) {
  auto entity = co_await from.get("eu", key);
  if (!entity.ok()) co_return entity.status();
  if (!*entity) co_return varve::Status::not_found(key);
  auto copied = co_await to.insert_or_replace(**entity);
  if (!copied.ok()) co_return copied.status();
  co_return co_await from.remove("eu", key, (*entity)->etag());
}
// [/task]

varve::Status tasks(varve::Table orders, varve::Table old_orders) {
  // [start]
  // A read from memory calls the callback before start() returns. Others call it on the store's asynchronous thread,
  // or on the thread of a HomeThread.
  varve::start(varve::AsyncTable(orders).get("eu", "0001"), [](const auto& entity) { (void)entity.ok(); });
  varve::Status archived = varve::wait(archive(varve::AsyncTable(orders), varve::AsyncTable(old_orders), "0001"));
  // [/start]
  return archived;
}

varve::Status queues(varve::Store& store, varve::Table orders, void (*ship)(const std::string&)) {
  // [queue]
  auto queue = store.create_queue("myaccount", "shipments");
  if (!queue.ok()) return queue.status();

  auto transaction = store.begin_transaction();  // the entity and the message: both or none
  if (!transaction.ok()) return transaction.status();
  transaction->insert(orders, varve::Entity("eu", "0001")).put(*queue, "eu/0001");
  if (auto committed = transaction->commit(); !committed.ok()) return committed.status();

  auto messages = queue->get({.count = 32, .hold = std::chrono::minutes(5), .wait = std::chrono::seconds(10)});
  if (!messages.ok()) return messages.status();
  for (const varve::ReceivedMessage& message : *messages) {
    ship(message.text);
    if (auto removed = queue->remove(message); !removed.ok()) return removed;
  }
  // [/queue]
  return {};
}

varve::Status blobs(varve::Store& store, const std::string& bytes, std::optional<std::string> (*next_piece)()) {
  // [blob]
  auto photos = store.create_container("myaccount", "photos");
  if (!photos.ok()) return photos.status();
  auto picture = photos->put("eu/ann.jpg", bytes, {.properties = {.content_type = "image/jpeg"}});
  if (!picture.ok()) return picture.status();

  auto writer = photos->write("eu/film.mp4");  // for a content that does not fit memory
  if (!writer.ok()) return writer.status();
  while (auto piece = next_piece()) {
    if (auto added = writer->append(*piece); !added.ok()) return added;
  }
  if (auto written = writer->publish(); !written.ok()) return written.status();

  auto reader = photos->read("eu/film.mp4");
  if (!reader.ok()) return reader.status();
  std::vector<char> buffer(1 << 20);
  auto bytes_read = reader->read(0, buffer);  // any range, on any thread
  // [/blob]
  return bytes_read.status();
}

varve::Status blob_transaction(varve::Store& store, varve::Table& employees, varve::Container* photos,
                               const std::string& bytes) {
  // [blob_transaction]
  auto photo = photos->write("0007.jpg");  // not visible before the commit, however long it takes
  if (!photo.ok()) return photo.status();
  if (auto added = photo->append(bytes); !added.ok()) return added;

  auto hiring = store.begin_transaction();  // the entity and its photo: both or none
  if (!hiring.ok()) return hiring.status();
  hiring->insert(employees, varve::Entity("sales", "0007").set("Photo", "0007.jpg")).publish(*std::move(photo));
  if (auto committed = hiring->commit(); !committed.ok()) return committed.status();
  // [/blob_transaction]
  return {};
}

varve::Status indexes(varve::Store& store) {
  // [indexes]
  const varve::IndexDefinition by_customer{"ByCustomer", {{"Customer"}, {"Total", true}}};
  if (auto built = store.create_index("myaccount", "Orders", by_customer); !built.ok()) return built;

  auto orders = store.open_table("myaccount", "Orders");
  if (!orders.ok()) return orders.status();
  varve::Scan scan;
  scan.filter = "Customer eq 'ann' and Total ge 100.0";
  return orders->scan(scan).status();
  // [/indexes]
}

varve::Status expiry(varve::Store& store) {
  // [expiry]
  auto sessions =
      store.create_table("myaccount", "Sessions", {.expiry = varve::TableExpiry::after(std::chrono::minutes(30))});
  if (!sessions.ok()) return sessions.status();
  if (auto begun = sessions->insert(varve::Entity("web", "7f3a").set("User", "ann")); !begun.ok())
    return begun.status();

  // Entities of this table end at the value of their own property. Those without it never end.
  return store.set_table_expiry("myaccount", "Events", varve::TableExpiry::at("KeepUntil"));
  // [/expiry]
}

varve::Status large_value(varve::Store& store, std::optional<std::string> (*next_piece)()) {
  // [large_value]
  auto people = store.create_table("myaccount", "People", {.has_large_values = true});
  if (!people.ok()) return people.status();
  auto photo = people->write_large_value();
  if (!photo.ok()) return photo.status();
  while (auto piece = next_piece()) {
    if (auto added = photo->append(*piece); !added.ok()) return added;
  }
  auto value = photo->finish();  // no entity names it yet
  if (!value.ok()) return value.status();
  auto hired = people->insert(varve::Entity("sales", "0007").set("Photo", *value));
  if (!hired.ok()) return hired.status();

  auto stored = people->open_large_value("sales", "0007", "Photo");
  if (!stored.ok()) return stored.status();
  std::vector<char> buffer(1 << 20);
  auto bytes_read = stored->read(0, buffer);  // any range, on any thread
  // [/large_value]
  return bytes_read.status();
}

varve::Status signed_access(const varve::Result<std::unique_ptr<varve::Store>>& store,
                            const varve::security::AccountCredentials& account, const varve::security::Clock& clock) {
  // [signature]
  varve::security::TableSasTerms terms;
  terms.table = "Orders";
  terms.permissions = varve::Permissions{varve::Permission::kQuery};
  terms.expiry = *varve::DateTime::parse("2026-03-04T00:00:00Z");
  terms.interval = {varve::KeyBound{"eu", "0001"}, varve::KeyBound{"eu", "0999"}};
  auto token = varve::security::sign_table_sas(terms, account);  // to_query(*token) is the query to hand out

  auto session = varve::security::Session::open(**store, account, to_query(*token), {"203.0.113.7"}, clock);
  auto orders = session->table("Orders");  // scans see eu/0001 to eu/0999, and nothing can be written
  // [/signature]
  return orders.status();
}

varve::Status encrypted(const varve::Result<std::unique_ptr<varve::Store>>& store, varve::SecretBytes bytes) {
  // [encryption]
  auto key = varve::make_aes_key("key-2026", std::move(bytes));  // or an RSA key, or your own KeyEncryptionKey
  varve::EncryptedTable patients(*(*store)->open_table("myaccount", "Patients"),
                                 {.key = *key, .properties = varve::PropertyChoice::names({"Diagnosis"})});
  // [/encryption]
  return patients.insert(varve::Entity("eu", "0001").set("Diagnosis", "none")).status();
}
