// SPDX-License-Identifier: Apache-2.0
#include "facts/facts_json.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <thread>

#include "base/well_known.h"
#include "doc/fields.h"
#include "doc/record.h"
#include "doc/text.h"
#include "doc/yaml.h"
#include "facts/facts_fields.h"

namespace railbed::doc {

template <>
struct Words<facts::LinkType> {
  static constexpr std::string_view all[] = {"unknown", "Ethernet", "InfiniBand"};
};
template <>
struct Words<EswitchMode> {
  static constexpr std::string_view all[] = {eswitch_mode_name(EswitchMode::kLegacy),
                                             eswitch_mode_name(EswitchMode::kSwitchdev)};
};

}  // namespace railbed::doc

namespace railbed::facts {
namespace {

constexpr std::string_view kKind = "NodeFacts";
constexpr doc::Family kFamily{"RB-FACTS", 2, 1};  // number of unknown fields, of all else

bool is_text(const doc::Value* value, std::string_view wanted) {
  return value != nullptr && value->is_string() && *value->as_string() == wanted;
}

// Whether this is a NodeFacts object, of a version that can be read.
bool check_head(const doc::Value& value, doc::Diagnostics& diagnostics) {
  if (!is_text(value.find("kind"), kKind) || !is_text(value.find("apiVersion"), kOwnApiVersion)) {
    const doc::Value* kind = value.find("kind");
    diagnostics
        .error("RB-FACTS-004", kind != nullptr ? kind->span : value.span,
               fmt::format("not node facts (apiVersion: {}, kind: {})", kOwnApiVersion, kKind))
        .with_fix("railbed discover -o json writes them");
    return false;
  }
  const doc::Value* version = value.find("version");
  const int64_t* number = version != nullptr ? version->as_int() : nullptr;
  if (number == nullptr || *number < 1) {
    diagnostics.error("RB-FACTS-001", version != nullptr ? version->span : value.span,
                      "node facts need a \"version\", a whole number from 1");
    return false;
  }
  if (*number <= kFactsVersion) return true;
  diagnostics
      .error("RB-FACTS-003", version->span,
             fmt::format("these node facts have version {}; this railbed ({}) reads up to version {}", *number,
                         RAILBED_VERSION, kFactsVersion))
      .with_fix("use the release of railbed that wrote them, or write them again with this one");
  return false;
}

}  // namespace

namespace {

class Utf8Maker {
 public:
  void operator()(const char*, std::string& text) { visit(text); }
  template <typename T>
  void operator()(const char*, T& field) {
    visit(field);
  }

 private:
  static void visit(std::string& text) {
    if (doc::first_invalid_utf8(text)) text = doc::as_utf8(text);
  }
  template <doc::Listed T>
  static void visit(T& value) {
    Utf8Maker maker;
    fields(maker, value);
  }
  template <typename T>
  static void visit(std::optional<T>& value) {
    if (value) visit(*value);
  }
  template <typename T>
  static void visit(std::vector<T>& values) {
    for (T& value : values) visit(value);
  }
  template <typename T>
  static void visit(std::map<std::string, T>& values) {
    for (auto& [key, value] : values) visit(value);
  }
  template <typename T>
  static void visit(T&) {}  // numbers and the like
};

}  // namespace

void make_utf8(NodeFacts& facts) {
  Utf8Maker maker;
  fields(maker, facts);
}

doc::Value to_value(const NodeFacts& facts) {
  doc::Value object = doc::Value::object();
  object.set("apiVersion", kOwnApiVersion);
  object.set("kind", kKind);
  object.set("version", kFactsVersion);
  doc::RecordWriter writer(object);
  fields(writer, facts);
  return object;
}

std::optional<NodeFacts> from_value(const doc::Value& value, doc::Diagnostics& diagnostics) {
  doc::Diagnostics own;
  std::optional<NodeFacts> facts;
  if (check_head(value, own)) {
    doc::Fields from(value, "", kFamily, own);
    from.ignore({"apiVersion", "kind", "version"});
    doc::read_record(from, facts.emplace(), doc::UnknownMembers::kReported);
  }
  if (own.has_errors()) facts.reset();
  diagnostics.append(std::move(own));
  return facts;
}

namespace {

std::vector<NodeFacts> nodes_of(const std::vector<doc::Value>& documents, doc::Diagnostics& diagnostics) {
  std::vector<NodeFacts> nodes;
  auto add = [&](const doc::Value& value) {
    if (std::optional<NodeFacts> facts = from_value(value, diagnostics)) nodes.push_back(std::move(*facts));
  };
  for (const doc::Value& value : documents) {
    const doc::Value* items = value.find("items");
    if (is_text(value.find("kind"), "List") && items != nullptr && items->is_array()) {
      for (const doc::Value& item : *items->as_array()) add(item);
    } else {
      add(value);
    }
  }
  return nodes;
}

// Where the parts of a large stream begin, each at a "---" line; the end is the last of them.
std::vector<size_t> parts_of(std::string_view text) {
  constexpr size_t kWorthAThread = 256u << 10;
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 8);
  const size_t wanted = std::clamp<size_t>(text.size() / kWorthAThread, 1, threads);
  std::vector<size_t> cuts{0};
  for (size_t i = 1; i < wanted; ++i) {
    const size_t cut = text.find("\n---\n", std::max(text.size() * i / wanted, cuts.back()));
    if (cut == std::string_view::npos) break;
    cuts.push_back(cut + 1);
  }
  cuts.push_back(text.size());
  return cuts;
}

struct Part {
  std::vector<NodeFacts> nodes;
  doc::Diagnostics diagnostics;
};

}  // namespace

std::vector<NodeFacts> parse_facts(doc::SourcePtr source, doc::Diagnostics& diagnostics) {
  const std::vector<size_t> cuts = parts_of(source->text);
  if (cuts.size() == 2 || source->text.size() > doc::kMaxSourceBytes)
    return nodes_of(doc::parse_yaml(std::move(source), diagnostics), diagnostics);
  std::vector<Part> parts(cuts.size() - 1);
  {
    std::vector<std::jthread> running;
    for (size_t i = 0; i < parts.size(); ++i)
      running.emplace_back([&, i] {
        // Each thread gets its own copy: values count the users of their source, and threads would compete for that
        // counter.
        const auto own = std::make_shared<const doc::Source>(*source);
        const doc::LineIndex index(own);
        Part& part = parts[i];
        part.nodes = nodes_of(doc::parse_yaml(own, index, {cuts[i], cuts[i + 1]}, part.diagnostics), part.diagnostics);
      });
  }
  std::vector<NodeFacts> nodes;
  for (Part& part : parts) {
    std::ranges::move(part.nodes, std::back_inserter(nodes));
    diagnostics.append(std::move(part.diagnostics));
  }
  return nodes;
}

}  // namespace railbed::facts
