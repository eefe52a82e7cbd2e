// SPDX-License-Identifier: Apache-2.0
// The part of the family RDMA about cards: their ids and rates.
#include <algorithm>

#include "check/data_files.h"
#include "check/rules/lookups.h"
#include "check/rules/rdma_rules.h"

namespace railbed::check {

using doc::Value;

namespace {

const Value::Array& known_cards() {
  static const Value kData = data_document("pci_ids.yaml");
  return *kData.find("cards")->as_array();
}

// The card whose PF has this id; null when it is unknown.
const Value* card_of_pf(std::string_view id) {
  for (const Value& card : known_cards())
    if (text_at(card, "pf") == id) return &card;
  return nullptr;
}

std::vector<std::string> pfs_of_vf(std::string_view id) {
  std::vector<std::string> pfs;
  for (const Value& card : known_cards())
    if (text_at(card, "vf") == id) pfs.push_back(fmt::format("{} ({})", text_at(card, "pf"), text_at(card, "name")));
  return pfs;
}

// "400G", "400 Gb/s", "400 Gbps", "400GbE" in a line; 0 where there is none.
int rate_in(std::string_view line) {
  int most = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] < '0' || line[i] > '9' || (i > 0 && line[i - 1] >= '0' && line[i - 1] <= '9')) continue;
    int number = 0;
    size_t end = i;
    while (end < line.size() && line[end] >= '0' && line[end] <= '9' && end - i < 5)
      number = number * 10 + (line[end++] - '0');
    const std::string_view rest = line.substr(end, 6);
    const bool gigabit = rest.starts_with("G ") || rest == "G" || rest.starts_with("G,") || rest.starts_with("G.") ||
                         rest.starts_with("GbE") || rest.starts_with("Gb") || rest.starts_with(" Gb") ||
                         rest.starts_with("G/");
    if (gigabit && number >= 10 && number <= 1600) most = std::max(most, number);
  }
  return most;
}

struct DeviceEntry {
  Word id;
  const Producer* producer = nullptr;
};

std::vector<DeviceEntry> plugin_devices(const Input& in) {
  std::vector<DeviceEntry> all;
  for (const Producer& producer : in.views.producers) {
    if (producer.by != Producer::By::kSriovPlugin) continue;
    const Value* selectors = producer.entry.find("selectors");
    if (selectors == nullptr) continue;
    const auto add = [&](const Value& one) {
      for (Word& word : texts_at(one, "devices")) all.push_back({std::move(word), &producer});
    };
    if (selectors->is_array())
      std::ranges::for_each(*selectors->as_array(), add);
    else
      add(*selectors);
  }
  return all;
}

}  // namespace

void slower_than_said(const Input& in, Findings& out) {
  const Prose* line = nullptr;
  int said = 0;
  for (const Prose& prose : in.bundle.prose)
    if (const int rate = rate_in(prose.text); rate > said) {
      said = rate;
      line = &prose;
    }
  if (line == nullptr) return;
  for (const PolicyView& policy : in.views.policies) {
    const Value* id = at(*policy.spec, "nicSelector.deviceID");
    const Value* card = card_of_pf(lower(text_at(*policy.spec, "nicSelector.deviceID")));
    if (card == nullptr) continue;
    const int64_t rate = integer_at(*card, "rate_gbps").value_or(0);
    if (rate == 0 || said < rate * 2) continue;
    out.note(id->span, fmt::format("{} is a {}, whose ports do {} Gb/s; the text speaks of {}",
                                   text_at(*policy.spec, "nicSelector.deviceID"), text_at(*card, "name"), rate, said))
        .note(line->span, "here")
        .with_fix("the device id of the card that is meant (railbed discover)");
  }
}

void vf_id_for_pf(const Input& in, Findings& out) {
  for (const PolicyView& policy : in.views.policies) {
    const Value* id = at(*policy.spec, "nicSelector.deviceID");
    const std::string text = lower(text_at(*policy.spec, "nicSelector.deviceID"));
    if (id == nullptr || text.empty() || card_of_pf(text) != nullptr) continue;
    const auto pfs = pfs_of_vf(text);
    if (pfs.empty()) continue;
    out.error(id->span, fmt::format("{} is the id of VFs; a policy selects PFs, so it matches nothing", text))
        .with_fix(fmt::format("the PF's id: {}", fmt::join(pfs, ", ")));
  }
}

void pool_of_nothing(const Input& in, Findings& out) {
  for (const DeviceEntry& entry : plugin_devices(in)) {
    const std::string id = lower(entry.id.text);
    const Value* made = nullptr;
    std::string made_vf;
    bool fits = false;
    for (const PolicyView& policy : in.views.policies) {
      const Value* selected = at(*policy.spec, "nicSelector.deviceID");
      const std::string pf = lower(text_at(*policy.spec, "nicSelector.deviceID"));
      const Value* card = card_of_pf(pf);
      if (card == nullptr) {
        fits = true;  // a policy for any card, or for an unknown one, may fit
        continue;
      }
      fits = fits || text_at(*card, "vf") == id;
      made = selected;
      made_vf = text_at(*card, "vf");
    }
    if (fits || made == nullptr || (pfs_of_vf(id).empty() && card_of_pf(id) == nullptr)) continue;
    const bool is_pf = card_of_pf(id) != nullptr;
    out.error(entry.id.span, is_pf ? fmt::format("{} is the id of PFs; the VFs of the policy's card are {}: the "
                                                 "pool of {} stays without VFs",
                                                 id, made_vf, entry.producer->resource)
                                   : fmt::format("the policy's card makes VFs {}, not {}: the pool of {} stays at 0",
                                                 made_vf, id, entry.producer->resource))
        .note(made->span, fmt::format("VFs of this card are {}", made_vf))
        .with_fix(fmt::format("\"devices\": [\"{}\"]", made_vf));
  }
}

}  // namespace railbed::check
