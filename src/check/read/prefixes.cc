// SPDX-License-Identifier: Apache-2.0
#include "check/read/prefixes.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

#include "check/read/paths.h"
#include "doc/members.h"

namespace railbed::check {

using doc::Value;

namespace {

constexpr std::string_view kVariable = "RESOURCE_PREFIX";
constexpr std::string_view kChartValue = "operator.resourcePrefix";
constexpr std::string_view kPluginPrefix = "intel.com";  // where its configuration says none

// A domain, and no text that something fills in.
bool is_prefix(std::string_view text) {
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  return text.find('.') != std::string_view::npos && std::ranges::all_of(text, is_part);
}

// The word after `key` in a text, without quotes.
std::string_view word_after(std::string_view text, size_t key_end) {
  constexpr std::string_view kAround = " \t\"'";
  const size_t begin = std::min(text.find_first_not_of(kAround, key_end), text.size());
  const size_t end = std::min(text.find_first_of(" \t\"',\r\n#}", begin), text.size());
  return text.substr(begin, end - begin);
}

class Signs {
 public:
  void look_at(const Value& value, const std::string& file) {
    file_ = &file;
    look(value, "", 0);
  }

  // Objects of Spiderpool: its chart brings the operator with its own prefix.
  void look_at_kind(const Document& document, const std::string& file) {
    file_ = &file;
    if (document.group() == "spiderpool.spidernet.io") add("spidernet.io");
  }

  void look_at(const Command& command, const std::string& file) {
    file_ = &file;
    for (const std::vector<Word>* words : {&command.words, &command.environment})
      for (const Word& word : *words) {
        if (word.text.starts_with(std::string(kVariable) + "=")) add(word_after(word.text, kVariable.size() + 1));
        const size_t at = word.text.find(std::string(kChartValue) + "=");
        if (at != std::string::npos) add(word_after(word.text, at + kChartValue.size() + 1));
      }
  }

  std::vector<PrefixSign> all;

 private:
  void add(std::string_view prefix, PrefixSign::By by = PrefixSign::By::kOperator) {
    if (is_prefix(prefix) && seen_.emplace(by, prefix, *file_).second) all.push_back({by, std::string(prefix), *file_});
  }

  // `under`: the key of the object.
  void look(const Value& value, std::string_view under, int depth) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest) return;
    if (const std::string* text = value.as_string()) look_into(*text);
    if (const Value::Array* items = value.as_array())
      for (const Value& item : *items) look(item, under, depth + 1);
    const Value::Object* members = value.as_object();
    if (members == nullptr) return;
    const std::string name = doc::text_in(value, "name");
    if (name == kVariable || name.ends_with(kChartValue)) add(doc::text_in(value, "value"));
    for (const Value::Member& member : *members) {
      if (member.key == "resourcePrefix" && under == "operator" && member.value.as_string() != nullptr)
        add(*member.value.as_string());
      else
        look(member.value, member.key, depth + 1);
    }
  }

  // Values of a chart, or the configuration of a device plugin, in a text.
  void look_into(const std::string& text) {
    constexpr std::string_view kInValues = "resourcePrefix:";
    constexpr std::string_view kInPlugin = "\"resourcePrefix\"";
    for (size_t at = text.find(kInValues); at != std::string::npos; at = text.find(kInValues, at + 1))
      add(word_after(text, at + kInValues.size()));
    if (text.find("\"resourceList\"") == std::string::npos) return;
    bool said = false;
    for (size_t at = text.find(kInPlugin); at != std::string::npos; at = text.find(kInPlugin, at + 1)) {
      const size_t colon = text.find(':', at + kInPlugin.size());
      if (colon == std::string::npos) break;
      add(word_after(text, colon + 1), PrefixSign::By::kPlugin);
      said = true;
    }
    if (!said) add(kPluginPrefix, PrefixSign::By::kPlugin);
  }

  const std::string* file_ = nullptr;
  std::set<std::tuple<PrefixSign::By, std::string, std::string>> seen_;
};

// How near a sign is to a file; 0: it does not hold for it.
size_t nearness(const PrefixSign& sign, std::string_view file, const Kustomizations& kustomizations) {
  constexpr size_t kSameFile = SIZE_MAX;
  if (sign.file == file) return kSameFile;
  const std::string around = folder_of(sign.file);
  const std::string folder = folder_of(file);
  const bool inside = around == "." ? !folder.starts_with('/') : folder.starts_with(around + "/");
  constexpr size_t kTogether = 1;
  constexpr size_t kRoot = 2;
  if (around == folder || inside) return around == "." ? kRoot : kRoot + around.size();
  return kustomizations.together(sign.file, file) ? kTogether : 0;
}

}  // namespace

std::vector<PrefixSign> prefix_signs(const Bundle& bundle) {
  Signs signs;
  const auto file_of_place = [&](const doc::Span& place) {
    const doc::SourcePtr source = bundle.given(place).source;
    return source == nullptr ? std::string() : source->name;
  };
  for (const std::vector<Document>* documents : {&bundle.documents, &bundle.aside})
    for (const Document& document : *documents)
      if (document.verb != Verb::kDelete) {
        const std::string file = file_of_place(document.value.span);
        signs.look_at_kind(document, file);
        signs.look_at(document.value, file);
      }
  for (const Value& value : bundle.without_kind) signs.look_at(value, file_of_place(value.span));
  for (const Command& command : bundle.commands) signs.look_at(command, file_of_place(command.span));
  return std::move(signs.all);
}

bool sign_holds_for(const PrefixSign& sign, std::string_view file, const Kustomizations& kustomizations) {
  return nearness(sign, file, kustomizations) > 0;
}

std::optional<std::string> operators_prefix(std::span<const PrefixSign> signs, std::string_view file,
                                            const Kustomizations& kustomizations) {
  size_t nearest = 0;
  std::optional<std::string> found;
  for (const PrefixSign& sign : signs) {
    if (sign.by != PrefixSign::By::kOperator) continue;
    const size_t here = nearness(sign, file, kustomizations);
    if (here == 0 || here < nearest) continue;
    if (here == nearest && found != sign.prefix) {
      found.reset();
      continue;
    }
    found = sign.prefix;
    nearest = here;
  }
  return found;
}

}  // namespace railbed::check
