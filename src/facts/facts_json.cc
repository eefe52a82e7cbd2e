// SPDX-License-Identifier: Apache-2.0
#include "facts/facts_json.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <thread>

#include "doc/text.h"
#include "doc/yaml.h"
#include "facts/facts_fields.h"

namespace railbed::facts {
namespace {

constexpr std::string_view kApiVersion = "railbed.dev/v1";
constexpr std::string_view kKind = "NodeFacts";

template <typename T>
concept Parseable = HasToString<T> && requires(std::string_view text) {
  { T::parse(text) } -> std::same_as<Result<T>>;
};
template <typename T>
concept Counted = std::same_as<T, IfIndex> || std::same_as<T, VfIndex>;
template <typename T>
concept HasFields =
    std::is_class_v<T> && !HasToString<T> && !requires(T t) { t.size(); } && !requires(T t) { t.has_value(); };

std::string_view link_type_text(LinkType type) {
  switch (type) {
    case LinkType::kUnknown:
      return "unknown";
    case LinkType::kEthernet:
      return "Ethernet";
    case LinkType::kInfiniband:
      return "InfiniBand";
  }
  return "unknown";
}

// --- writing

doc::Value written(bool value) {
  return value;
}
doc::Value written(int value) {
  return value;
}
doc::Value written(uint8_t value) {
  return int{value};
}
doc::Value written(uint32_t value) {
  return int64_t{value};
}
doc::Value written(uint64_t value) {
  return fmt::format("0x{:016x}", value);
}
doc::Value written(double value) {
  return value;
}
doc::Value written(const std::string& value) {
  return value;
}
doc::Value written(LinkType value) {
  return link_type_text(value);
}
doc::Value written(const std::map<std::string, std::string>& value) {
  doc::Value object = doc::Value::object();
  for (const auto& [key, text] : value) object.set(key, text);
  return object;
}
template <Counted T>
doc::Value written(const T& value) {
  return value.value;
}
template <Parseable T>
doc::Value written(const T& value) {
  return value.to_string();
}
template <HasFields T>
doc::Value written(const T& value);

class Writer {
 public:
  explicit Writer(doc::Value& object) : object_(object) {}

  template <typename T>
  void operator()(const char* key, const T& field) {
    object_.set(key, written(field));
  }
  void operator()(const char* key, const std::string& field) {
    if (!field.empty()) object_.set(key, field);
  }
  void operator()(const char* key, const std::map<std::string, std::string>& field) {
    if (!field.empty()) object_.set(key, written(field));
  }
  template <typename T>
  void operator()(const char* key, const std::optional<T>& field) {
    if (field) object_.set(key, written(*field));
  }
  template <typename T>
  void operator()(const char* key, const std::vector<T>& field) {
    if (field.empty()) return;
    doc::Value::Array list;
    list.reserve(field.size());
    for (const T& item : field) list.push_back(written(item));
    object_.set(key, std::move(list));
  }

 private:
  doc::Value& object_;
};

template <HasFields T>
doc::Value written(const T& value) {
  doc::Value object = doc::Value::object();
  Writer writer(object);
  fields(writer, value);
  return object;
}

// --- reading

class Reader {
 public:
  Reader(const doc::Value& object, doc::Diagnostics& diagnostics) : object_(object), diagnostics_(diagnostics) {}

  template <typename T>
  void operator()(const char* key, T& field) {
    known_.push_back(key);
    const doc::Value* value = object_.find(key);
    if (value != nullptr) read(*value, key, field);
  }

  // To be called last: what no field has asked for.
  void report_unknown() {
    for (const doc::Value::Member& member : *object_.as_object()) {
      if (std::ranges::find(known_, member.key) != known_.end()) continue;
      auto& warning = diagnostics_.warning("RB-FACTS-002", member.key_span,
                                           fmt::format("node facts have no \"{}\" here", member.key));
      if (std::string near = doc::nearest(member.key, known_); !near.empty())
        warning.with_fix(fmt::format("did you mean \"{}\"?", near));
    }
  }
  void allow(const char* key) { known_.push_back(key); }

 private:
  void wrong(const doc::Value& value, std::string_view key, std::string_view wanted) {
    diagnostics_.error("RB-FACTS-001", value.span,
                       fmt::format("\"{}\" is {}, not {}", key, doc::kind_name(value.kind()), wanted));
  }

  template <std::integral T>
  void read(const doc::Value& value, std::string_view key, T& field) {
    const int64_t* number = value.as_int();
    if (number == nullptr) return wrong(value, key, "a whole number");
    if (*number < int64_t{std::numeric_limits<T>::min()} ||
        *number > static_cast<int64_t>(std::min<uint64_t>(std::numeric_limits<T>::max(), INT64_MAX))) {
      diagnostics_.error("RB-FACTS-001", value.span, fmt::format("\"{}\" is out of range: {}", key, *number));
      return;
    }
    field = static_cast<T>(*number);
  }
  void read(const doc::Value& value, std::string_view key, bool& field) {
    const bool* flag = value.as_bool();
    if (flag == nullptr) return wrong(value, key, "true or false");
    field = *flag;
  }
  void read(const doc::Value& value, std::string_view key, double& field) {
    if (const int64_t* whole = value.as_int())
      field = static_cast<double>(*whole);
    else if (const double* number = value.as_double_exact())
      field = *number;
    else
      wrong(value, key, "a number");
  }
  void read(const doc::Value& value, std::string_view key, std::string& field) {
    const std::string* text = value.as_string();
    if (text == nullptr) return wrong(value, key, "a text");
    field = *text;
  }
  void read(const doc::Value& value, std::string_view key, uint64_t& field) {
    const std::string* text = value.as_string();
    if (text == nullptr) return wrong(value, key, "a text like \"0xfe80000000000000\"");
    std::string_view digits = *text;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), field, 16);
    if (failure != std::errc() || end != digits.data() + digits.size())
      diagnostics_.error("RB-FACTS-001", value.span,
                         fmt::format("\"{}\" is \"{}\", not a text like \"0xfe80000000000000\"", key, *text));
  }
  void read(const doc::Value& value, std::string_view key, LinkType& field) {
    const std::string* text = value.as_string();
    if (text == nullptr) return wrong(value, key, "a text");
    for (LinkType type : {LinkType::kUnknown, LinkType::kEthernet, LinkType::kInfiniband})
      if (*text == link_type_text(type)) {
        field = type;
        return;
      }
    diagnostics_.error("RB-FACTS-001", value.span,
                       fmt::format("\"{}\" is \"{}\", not Ethernet, InfiniBand or unknown", key, *text));
  }
  void read(const doc::Value& value, std::string_view key, std::map<std::string, std::string>& field) {
    const doc::Value::Object* members = value.as_object();
    if (members == nullptr) return wrong(value, key, "an object");
    for (const doc::Value::Member& member : *members) read(member.value, member.key, field[member.key]);
  }
  template <Counted T>
  void read(const doc::Value& value, std::string_view key, T& field) {
    read(value, key, field.value);
  }
  template <Parseable T>
  void read(const doc::Value& value, std::string_view key, T& field) {
    const std::string* text = value.as_string();
    if (text == nullptr) return wrong(value, key, "a text");
    Result<T> parsed = T::parse(*text);
    if (parsed)
      field = *parsed;
    else
      diagnostics_.error("RB-FACTS-001", value.span, fmt::format("\"{}\": {}", key, parsed.error().story()));
  }
  template <typename T>
  void read(const doc::Value& value, std::string_view key, std::optional<T>& field) {
    if (value.is_null()) return;
    read(value, key, field.emplace());
  }
  template <typename T>
  void read(const doc::Value& value, std::string_view key, std::vector<T>& field) {
    const doc::Value::Array* items = value.as_array();
    if (items == nullptr) return wrong(value, key, "a list");
    field.reserve(items->size());
    for (const doc::Value& item : *items) read(item, key, field.emplace_back());
  }
  template <HasFields T>
  void read(const doc::Value& value, std::string_view key, T& field) {
    if (!value.is_object()) return wrong(value, key, "an object");
    Reader inner(value, diagnostics_);
    fields(inner, field);
    inner.report_unknown();
  }

  const doc::Value& object_;
  doc::Diagnostics& diagnostics_;
  std::vector<std::string_view> known_;
};

bool is_text(const doc::Value* value, std::string_view wanted) {
  return value != nullptr && value->is_string() && *value->as_string() == wanted;
}

// Whether this is a NodeFacts object, of a version that can be read.
bool check_head(const doc::Value& value, doc::Diagnostics& diagnostics) {
  if (!is_text(value.find("kind"), kKind) || !is_text(value.find("apiVersion"), kApiVersion)) {
    const doc::Value* kind = value.find("kind");
    diagnostics
        .error("RB-FACTS-004", kind != nullptr ? kind->span : value.span,
               fmt::format("these are no node facts (apiVersion: {}, kind: {})", kApiVersion, kKind))
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

doc::Value to_value(const NodeFacts& facts) {
  doc::Value object = doc::Value::object();
  object.set("apiVersion", kApiVersion);
  object.set("kind", kKind);
  object.set("version", kFactsVersion);
  Writer writer(object);
  fields(writer, facts);
  return object;
}

std::optional<NodeFacts> from_value(const doc::Value& value, doc::Diagnostics& diagnostics) {
  doc::Diagnostics own;
  std::optional<NodeFacts> facts;
  if (check_head(value, own)) {
    Reader reader(value, own);
    for (const char* key : {"apiVersion", "kind", "version"}) reader.allow(key);
    fields(reader, facts.emplace());
    reader.report_unknown();
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
