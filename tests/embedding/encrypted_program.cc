// Owns: a program that keeps a text from the store it writes to, built and run by the test of the installed package.
// Must never: need more than the public headers.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <varve/encryption/encrypted_table.h>
#include <varve/store.h>

int main() {
  auto store = varve::Store::open("./shop", {.create_if_absent = true});
  if (!store.ok()) return 1;
  (void)(*store)->create_account("myaccount");
  auto table = (*store)->create_table("myaccount", "Patients");
  auto key = varve::make_aes_key("key-2026", varve::SecretBytes::copy_of(std::vector<std::uint8_t>(32, 7)));
  if (!table.ok() || !key.ok()) return 1;

  varve::EncryptedTable patients(*table, {.key = *key, .properties = varve::PropertyChoice::names({"Diagnosis"})});
  varve::Entity patient("eu", "0001");
  patient.set("Diagnosis", "asthma");
  if (!patients.insert(patient).ok()) return 1;

  auto read = patients.get("eu", "0001");
  auto stored = table->get("eu", "0001");
  if (!read.ok() || !read->has_value() || !stored.ok() || !stored->has_value()) return 1;
  std::cout << "read: " << *(*read)->get<std::string>("Diagnosis") << "\n";
  const bool is_hidden = !(*stored)->get<std::string>("Diagnosis").ok();
  std::cout << "stored: " << (is_hidden ? "no text" : "the text") << "\n";
  return is_hidden ? 0 : 1;
}
