// SPDX-License-Identifier: Apache-2.0
#include "schema/cni_values.h"

namespace railbed::schema {

using doc::Value;

namespace {

constexpr doc::Family kFamily{"RB-CNI"};

void check_text_value(doc::Fields& fields, const CniKey& key) {
  const auto text = fields.text(key.name);
  if (text.value.empty() && text.present && key.required)
    fields.error(6, text.span, fmt::format("{} is empty", fields.path_of(key.name)));
  if (text.value.empty() || key.problem == nullptr) return;
  if (const auto problem = key.problem(text.value))
    fields.error(5, text.span, fmt::format("{}: {}", fields.path_of(key.name), *problem));
}

void check_number_value(doc::Fields& fields, const CniKey& key) {
  const auto number = fields.integer(key.name, key.min, key.max);
  if (number.present && *number >= key.reserved.first && *number <= key.reserved.last)
    fields.error(5, number.span, fmt::format("{} {} is {}", fields.path_of(key.name), *number, key.reserved.why));
}

void check_text_values(doc::Fields& fields, const CniKey& key) {
  const Value::Array* list = fields.list(key.name);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string path = fmt::format("{}[{}]", fields.path_of(key.name), i);
    const auto text = fields.text_of((*list)[i], path);
    if (!text.present || key.problem == nullptr) continue;
    if (const auto problem = key.problem(text.value)) fields.error(5, text.span, fmt::format("{}: {}", path, *problem));
  }
}

void check_shape(doc::Fields& fields, const CniKey& key) {
  const Value* object = fields.object(key.name);
  if (key.required && object != nullptr && object->as_object()->empty())
    fields.error(6, object->span, fmt::format("{} is empty", fields.path_of(key.name)));
}

std::string first_message(const doc::Diagnostics& found) {
  return found.all().empty() ? "" : found.all().front().message;
}

}  // namespace

void check_key(doc::Fields& fields, const CniKey& key) {
  if (key.required) fields.require(key.name);
  switch (key.type) {
    case KeyType::kText:
      return check_text_value(fields, key);
    case KeyType::kFlag:
      fields.boolean(key.name);
      return;
    case KeyType::kNumber:
      return check_number_value(fields, key);
    case KeyType::kChoice:
      fields.choice(key.name, key.choices);
      return;
    case KeyType::kTexts:
      return check_text_values(fields, key);
    case KeyType::kObject:
      fields.object(key.name);
      return;
    case KeyType::kAny:
      return;
    case KeyType::kShape:
      return check_shape(fields, key);
  }
}

void check_pairs(std::string_view type, const Value& config, doc::Fields& fields) {
  if (type != "sriov") return;
  const auto number = [&](std::string_view key) {
    const Value* value = config.find(key);
    return value && value->as_int() ? *value->as_int() : 0;
  };
  if (number("vlanQoS") != 0 && number("vlan") == 0)
    fields.error(7, config.find("vlanQoS")->span, "vlanQoS needs a vlan that is not 0");
  const Value* proto = config.find("vlanProto");
  const bool is_ad =
      proto && proto->as_string() && (*proto->as_string() == "802.1ad" || *proto->as_string() == "802.1AD");
  if (is_ad && number("vlan") == 0) fields.error(7, proto->span, "vlanProto 802.1ad needs a vlan that is not 0");
  const Value* max_rate = config.find("max_tx_rate");
  if (max_rate && number("max_tx_rate") > 0 && number("min_tx_rate") > number("max_tx_rate"))
    fields.error(7, config.find("min_tx_rate")->span, "min_tx_rate is above max_tx_rate")
        .note(max_rate->span, "max_tx_rate is here");
}

std::string key_problem(const Value& config, const CniKey& key) {
  doc::Diagnostics out;
  doc::Fields fields(config, "", kFamily, out);
  check_key(fields, key);
  return first_message(out);
}

std::string pair_problem(std::string_view type, const Value& config) {
  doc::Diagnostics out;
  doc::Fields fields(config, "", kFamily, out);
  check_pairs(type, config, fields);
  return first_message(out);
}

}  // namespace railbed::schema
