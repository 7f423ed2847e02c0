// Owns: values of types that no property has, one chosen by MISTAKE. The test checks the compiler's message.
#include <cstddef>

#include <varve/varve.h>

void use(varve::Entity& entity) {
#if MISTAKE == 0  // no mistake: numbers of every width
  entity.set("A", 5U).set("B", 5L).set("C", 5LL).set("D", 1.5F).set("E", short{5}).set("F", std::uint8_t{5});
  (void)(varve::field("A") == 5U && varve::field("B") < 5LL && varve::field("C").one_of({5U, 6U}));
#elif MISTAKE == 1
  entity.set("Initial", 'c');
#elif MISTAKE == 2
  entity.set("Size", std::size_t{5});
#elif MISTAKE == 3
  entity.set("Pointer", static_cast<const void*>(&entity));
#elif MISTAKE == 4
  const bool flag = true;
  entity.set("Paid", &flag);
#elif MISTAKE == 5
  entity.set("Total", 1.5L);
#elif MISTAKE == 6
  (void)(varve::field("Initial") == 'c');
#elif MISTAKE == 7
  entity.set("Nothing", nullptr);
#elif MISTAKE == 8
  entity.add("Size", 5ULL);
#endif
  (void)entity;
}
