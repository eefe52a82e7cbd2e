// SPDX-License-Identifier: Apache-2.0
#include "check/read/objects.h"

#include <gtest/gtest.h>

namespace railbed::check {
namespace {

using doc::Value;

Value network_of_rail() {
  Value value;
  value.set("kind", "SriovNetwork");
  value.set("metadata", Value()).set("name", "rail0");
  Value& spec = value.set("spec", Value());
  spec.set("vlan", 7);
  Value& list = spec.set("list", Value::array());
  list.push("a");
  list.push(Value()).set("k.l/m", "b");
  return value;
}

TEST(ObjectsWithoutText, EveryFieldIsFoundByItsPlace) {
  const Bundle bundle = bundle_of({network_of_rail()});
  ASSERT_EQ(bundle.documents.size(), 1u);
  const Document& document = bundle.documents[0];
  EXPECT_EQ(document.label(), "SriovNetwork rail0");
  const Value& spec = *document.value.find("spec");
  EXPECT_EQ(field_at(document.value, document.value.span), "");
  EXPECT_EQ(field_at(document.value, spec.span), "spec");
  EXPECT_EQ(field_at(document.value, spec.find("vlan")->span), "spec.vlan");
  EXPECT_EQ(field_at(document.value, (*spec.find("list")->as_array())[0].span), "spec.list[0]");
  const Value::Member& member = (*(*spec.find("list")->as_array())[1].as_object())[0];
  EXPECT_EQ(field_at(document.value, member.key_span), "spec.list[1][k.l/m]");
  EXPECT_EQ(member.key_span.to_string(), "SriovNetwork rail0");
}

TEST(ObjectsWithoutText, APlaceIsNoneOfAText) {
  const Bundle bundle = bundle_of({network_of_rail()});
  const Value& vlan = *bundle.documents[0].value.find("spec")->find("vlan");
  EXPECT_FALSE(vlan.span.known());
  EXPECT_EQ(vlan.written(), "");
  EXPECT_TRUE(is_without_text(vlan.span));
  const auto file = std::make_shared<doc::Source>(doc::Source{"a.yaml", "a: 1\n"});
  EXPECT_FALSE(is_without_text({file}));
  EXPECT_FALSE(is_without_text({}));
}

TEST(ObjectsWithoutText, TwoOfOneNameAreTwo) {
  const Bundle bundle = bundle_of({network_of_rail(), network_of_rail()});
  const ObjectIndex index(bundle);
  for (const Document& document : bundle.documents) EXPECT_EQ(index.at(document.value.find("spec")->span), &document);
  EXPECT_EQ(index.at({}), nullptr);
}

TEST(ObjectsWithoutText, AListIsItsItemsAndWhatHasNoKindIsLeftOut) {
  Value list;
  list.set("kind", "SriovNetworkList");
  Value& items = list.set("items", Value::array());
  items.push(network_of_rail());
  items.push(Value::object());
  items.push("text");
  EXPECT_EQ(bundle_of({list, Value(), Value(7)}).documents.size(), 1u);
}

}  // namespace
}  // namespace railbed::check
