// SPDX-License-Identifier: Apache-2.0
// What the lists of members of attach's records have in common (doc/record.h): routes, rules, VF settings,
// enumerations.
//
// Why: the records are in the state of running pods. One list writes and reads each, so that no direction forgets a
// member. A member that is absent keeps its default; one of another type, or a text that is not such an address, is an
// error.
// Threading: pure.
// Failure: Invalid.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "doc/record.h"
#include "doc/value.h"
#include "os/ports/links.h"

namespace railbed::attach {

// Invalid when `text` is no JSON object.
Result<doc::Value> parse_object(const std::string& text);

// The record with the list of members of T.
template <typename T>
Result<T> read_recorded(const std::string& text) {
  const doc::Value object = TRY(parse_object(text));
  T record{};
  doc::Diagnostics found;
  doc::Fields from(object, "", doc::kNoFamily, found);
  doc::read_record(from, record);
  TRY(doc::first_error(found));
  return record;
}

// Absent and "" become nullopt.
template <typename T>
Result<std::optional<T>> parsed_in(const doc::Value& object, std::string_view key) {
  std::string text = text_in(object, key);
  if (text.empty()) return std::optional<T>{};
  return std::optional<T>(TRY(T::parse(text).context("\"{}\"", key)));
}

// --- for lists of members

// Always written; an error where it is absent.
template <typename Io, typename T>
void needed(Io& io, std::string_view key, T& member) {
  io.always(key, member);
  if constexpr (!Io::kWrites) {
    if (!io.from().has(key)) io.from().wrong(key, "is missing");
  }
}

// Whether `part`, whose members are beside each other in the object, is there: when reading, where there is `key`.
template <typename Io, typename Optional>
bool has_part(Io& io, std::string_view key, Optional& part) {
  if constexpr (!Io::kWrites) {
    if (io.from().has(key)) part = typename Optional::value_type{};
  }
  return part.has_value();
}

// An enumeration is written as its number; a later version may write its word (docs/state.md), which is read, too.
// `words` are in the order of the enumeration.
std::optional<int> number_of_word(const std::string& word, std::span<const std::string_view> words);
// 0 for what is neither a number nor one of the words, and for null.
int number_of_choice(const doc::Value* value, std::span<const std::string_view> words);
enum class Zero : uint8_t { kOmitted, kWritten };
template <typename Io, typename T>
void number_or_word(Io& io, std::string_view key, T& member, std::span<const std::string_view> words,
                    Zero zero = Zero::kOmitted) {
  if constexpr (Io::kWrites) {
    const int number = static_cast<int>(member);
    if (number != 0 || zero == Zero::kWritten) io.object().set(key, number);
  } else {
    member = static_cast<T>(number_of_choice(io.from().take(key), words));
  }
}
inline constexpr std::string_view kVlanProtoWords[] = {"802.1q", "802.1ad"};
inline constexpr std::string_view kLinkStateWords[] = {"auto", "enable", "disable"};

inline constexpr auto kRouteMembers = [](auto& io, auto& route) {
  needed(io, "dst", route.destination);
  io.some("gw", route.gateway);
  io.some("link", route.link.value);
  io.some("metric", route.metric);
  io.some("table", route.table);
  io.some("mtu", route.mtu);
  io.some("advmss", route.advmss);
  io.some("scope", route.scope);
  io.some("src", route.source);
};

inline constexpr auto kRuleMembers = [](auto& io, auto& rule) {
  needed(io, "from", rule.source);
  io.always("table", rule.table);
  io.some("priority", rule.priority);
};

inline constexpr auto kVfSettingsMembers = [](auto& io, auto& settings) {
  io.some("mac", settings.mac);
  if (has_part(io, "vlan", settings.vlan)) {
    io.always("vlan", settings.vlan->id);
    io.always("qos", settings.vlan->qos);
    number_or_word(io, "proto", settings.vlan->proto, kVlanProtoWords, Zero::kWritten);
  }
  io.some("spoofchk", settings.spoof_check);
  io.some("trust", settings.trust);
  if (has_part(io, "link_state", settings.link_state))
    number_or_word(io, "link_state", *settings.link_state, kLinkStateWords, Zero::kWritten);
  if (has_part(io, "min_tx_rate", settings.rate)) {
    io.always("min_tx_rate", settings.rate->min_mbps);
    io.always("max_tx_rate", settings.rate->max_mbps);
  }
  io.some("node_guid", settings.node_guid);
  io.some("port_guid", settings.port_guid);
};
// As an object in `key`; written where it has a setting.
template <typename Io, typename T>
void vf_settings_member(Io& io, std::string_view key, T& settings) {
  if constexpr (Io::kWrites) {
    if (settings.empty()) return;
    doc::RecordWriter inner(io.object().set(key, doc::Value::object()));
    kVfSettingsMembers(inner, settings);
  } else {
    io.from().inside(key, [&](doc::Fields& from) {
      doc::RecordReader inner(from);
      kVfSettingsMembers(inner, settings);
    });
  }
}

}  // namespace railbed::attach
