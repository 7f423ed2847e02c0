// Owns: declarations of mappings with one mistake each, chosen by MISTAKE. The test checks the compiler's message.
#include <string>

#include <varve/typed_declaration.h>

struct Pointer {
  std::string a, b;
  const char* c;
};
template <>
inline constexpr auto varve::mapping<Pointer> = varve::mapped::members(varve::mapped::partition_key(&Pointer::a),
                                                                       varve::mapped::row_key(&Pointer::b),
                                                                       varve::mapped::property("C", &Pointer::c));

struct Twice {
  std::string a, b;
  int c, d, e;
};
template <>
inline constexpr auto varve::mapping<Twice> = varve::mapped::members(varve::mapped::partition_key(&Twice::a),
                                                                     varve::mapped::row_key(&Twice::b),
                                                                     varve::mapped::property("C", &Twice::c),
                                                                     varve::mapped::property("C", &Twice::d));

struct NoRowKey {
  std::string a, b;
};
template <>
inline constexpr auto varve::mapping<NoRowKey> = varve::mapped::members(varve::mapped::partition_key(&NoRowKey::a));

struct NoPartitionKey {
  std::string a, b;
};
template <>
inline constexpr auto varve::mapping<NoPartitionKey> =
    varve::mapped::members(varve::mapped::row_key(&NoPartitionKey::a));

struct NoETag {
  std::string a, b;
};
template <>
inline constexpr auto varve::mapping<NoETag> = varve::mapped::members(varve::mapped::partition_key(&NoETag::a),
                                                                      varve::mapped::row_key(&NoETag::b));

struct Secret {
  std::string a, b, c;
};
template <>
inline constexpr auto varve::mapping<Secret> = varve::mapped::members(
    varve::mapped::partition_key(&Secret::a), varve::mapped::row_key(&Secret::b),
    varve::mapped::encrypted("C", &Secret::c), varve::mapped::index("ByC", varve::mapped::ascending("C")));

struct Endless {
  std::string a, b, c;
};
template <>
inline constexpr auto varve::mapping<Endless> = varve::mapped::members(varve::mapped::partition_key(&Endless::a),
                                                                       varve::mapped::row_key(&Endless::b),
                                                                       varve::mapped::property("C", &Endless::c),
                                                                       varve::mapped::ends_at("C"));

void use(varve::Table& table) {
#if MISTAKE == 0
  (void)varve::to_entity(NoETag{});
#elif MISTAKE == 1
  (void)varve::to_entity(Pointer{});
#elif MISTAKE == 2
  (void)varve::to_entity(Twice{});
#elif MISTAKE == 3
  (void)varve::to_entity(NoRowKey{});
#elif MISTAKE == 4
  (void)varve::to_entity(NoPartitionKey{});
#elif MISTAKE == 5
  (void)(varve::field<&Twice::e>() == 3);
#elif MISTAKE == 6
  (void)varve::from_entity<int>(varve::Entity());
#elif MISTAKE == 7
  NoETag object;
  (void)varve::TypedTable<NoETag>(table).replace(object);
#elif MISTAKE == 8
  varve::Entity entity("eu", "0001");
  (void)table.replace(entity);  // without a condition
#elif MISTAKE == 9
  (void)varve::declaration_of<Secret>();
#elif MISTAKE == 10
  (void)varve::declaration_of<Endless>();
#elif MISTAKE == 11
  (void)varve::TypedPatch<Twice>("eu", "0001").remove<&Twice::c>();
#endif
  (void)table;
}
