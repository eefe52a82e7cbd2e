// SPDX-License-Identifier: Apache-2.0
#include "check/read/carriers.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/kinds.h"
#include "check/data_files.h"
#include "check/read/paths.h"
#include "doc/members.h"
#include "doc/yaml.h"

namespace railbed::check {

using doc::Value;

namespace {

enum class Form : uint8_t { kObject, kText, kValues, kFields };

struct CarrierRow {
  std::string group;
  std::string kind;
  std::string path;
  DocumentKind holds = DocumentKind::kManifest;
  Form form = Form::kObject;
  std::string file;
  std::string absent_key;
  std::string absent_value;
};

struct MakerRow {
  std::string group;
  std::string kind;
  std::string why;
};

struct CarrierTable {
  std::vector<CarrierRow> carriers;
  std::vector<MakerRow> makers;
  std::set<std::string, std::less<>> inert_groups;
};

DocumentKind kind_held(std::string_view word) {
  return word == "part" ? DocumentKind::kPart : word == "template" ? DocumentKind::kTemplate : DocumentKind::kManifest;
}

CarrierRow read_carrier(const Value& row) {
  CarrierRow made{.group = doc::text_in(row, "group"),
                  .kind = doc::text_in(row, "kind"),
                  .path = doc::text_in(row, "path"),
                  .holds = kind_held(doc::text_in(row, "holds")),
                  .form = Form::kObject,
                  .file = doc::text_in(row, "file"),
                  .absent_key = {},
                  .absent_value = {}};
  const std::string form = doc::text_in(row, "form");
  made.form = form == "text"     ? Form::kText
              : form == "values" ? Form::kValues
              : form == "fields" ? Form::kFields
                                 : Form::kObject;
  const std::string absent = doc::text_in(row, "absent");
  if (const size_t equals = absent.find('='); equals != std::string::npos) {
    made.absent_key = absent.substr(0, equals);
    made.absent_value = absent.substr(equals + 1);
  }
  return made;
}

const Value::Array& rows_of(const Value& data, std::string_view key) {
  static const Value::Array kNone;
  const Value* rows = data.find(key);
  return rows != nullptr && rows->is_array() ? *rows->as_array() : kNone;
}

const CarrierTable& table_of_carriers() {
  static const CarrierTable kTable = [] {
    const Value data = data_document("carriers.yaml");
    CarrierTable made;
    for (const Value& row : rows_of(data, "carriers")) made.carriers.push_back(read_carrier(row));
    for (const Value& row : rows_of(data, "makers"))
      made.makers.push_back({doc::text_in(row, "group"), doc::text_in(row, "kind"), doc::text_in(row, "why")});
    for (const Value& row : rows_of(data, "inert_groups"))
      if (const std::string* group = row.as_string()) made.inert_groups.insert(*group);
    return made;
  }();
  return kTable;
}

bool is_row_of_document(const CarrierRow& row, const Document& document) {
  return row.kind == document.kind && row.group == document.group();
}

bool is_object_of_kubernetes(const Value& value) {
  return !doc::text_in(value, "apiVersion").empty() && !doc::text_in(value, "kind").empty();
}

// A value that a path leads to, with the objects around it, the nearest first.
struct HeldValue {
  const Value* value = nullptr;
  std::vector<const Value*> around;
};

class PathFinder {
 public:
  explicit PathFinder(std::vector<HeldValue>& out) : out_(out) {}

  void find(const Value& value, std::string_view path, std::vector<const Value*> around) {
    if (path.empty()) {
      out_.push_back({&value, std::move(around)});
      return;
    }
    const size_t dot = std::min(path.find('.'), path.size());
    std::string_view step = path.substr(0, dot);
    const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
    if (step == "**") return any_below(value, std::move(around), 0);
    const bool list = step.ends_with("[]");
    if (list) step.remove_suffix(2);
    around.insert(around.begin(), &value);
    if (step == "*") {
      if (const Value::Object* members = value.as_object())
        for (const Value::Member& member : *members) find(member.value, rest, around);
      return;
    }
    const Value* next = value.find(step);
    if (next == nullptr) return;
    if (!list) return find(*next, rest, std::move(around));
    if (const Value::Array* items = next->as_array())
      for (const Value& item : *items) find(item, rest, around);
  }

 private:
  void any_below(const Value& value, std::vector<const Value*> around, int depth) {
    constexpr int kDeepest = 32;
    if (depth > kDeepest) return;
    if (is_object_of_kubernetes(value)) {
      out_.push_back({&value, std::move(around)});
      return;
    }
    if (const Value::Array* items = value.as_array())
      for (const Value& item : *items) any_below(item, around, depth + 1);
    if (const Value::Object* members = value.as_object())
      for (const Value::Member& member : *members) any_below(member.value, around, depth + 1);
  }

  std::vector<HeldValue>& out_;
};

// The kind that the name of a source file says: "SriovNetwork" of "sriov/SriovNetwork-fh.yaml"; null: none.
const Kind* kind_of_file(std::string_view path) {
  std::string_view stem = file_of(path);
  stem = stem.substr(0, stem.find_first_of(".-_"));
  return find_kind(stem);
}

// The object that fields change: those of `fields`, with the kind that the file's name says.
Value object_of_fields(const Value& fields, const Kind& kind) {
  Value object = Value::object();
  object.span = fields.span;
  object.set("apiVersion", kind.api_version()).span = fields.span;
  object.set("kind", kind.name).span = fields.span;
  for (const std::string_view key : {"metadata", "spec", "data"})
    if (const Value* part = fields.find(key)) object.set(key, *part);
  return object;
}

class Unpacker {
 public:
  Unpacker(const Document& document, const doc::LineIndex& index) : document_(document), index_(index) {}

  std::vector<Document> unpack() {
    for (const CarrierRow& row : table_of_carriers().carriers) {
      if (!is_row_of_document(row, document_)) continue;
      std::vector<HeldValue> places;
      PathFinder(places).find(document_.value, row.path, {});
      for (const HeldValue& place : places) take(row, place);
    }
    return std::move(inner_);
  }

 private:
  void take(const CarrierRow& row, const HeldValue& place) {
    switch (row.form) {
      case Form::kObject:
        if (place.value->is_object()) add(row, place, *place.value);
        return;
      case Form::kText:
        for (Value& value : values_in(*place.value)) add(row, place, std::move(value));
        return;
      case Form::kValues:
        for (Value& value : values_in(*place.value)) {
          std::vector<HeldValue> objects;
          PathFinder(objects).find(value, "**", {});
          for (const HeldValue& object : objects) add(row, place, *object.value);
        }
        return;
      case Form::kFields:
        return take_fields(row, place);
    }
  }

  // A patch may say itself what it changes; otherwise the file does.
  void take_fields(const CarrierRow& row, const HeldValue& place) {
    if (!place.value->is_object()) return;
    if (!doc::text_in(*place.value, "kind").empty()) return add(row, place, *place.value);
    std::string_view key = row.file;
    const Value* beside = place.value;
    if (key.starts_with('^')) {
      key.remove_prefix(1);
      beside = place.around.empty() ? nullptr : place.around.front();
    }
    const Kind* kind = beside == nullptr ? nullptr : kind_of_file(doc::text_in(*beside, key));
    if (kind != nullptr) add(row, place, object_of_fields(*place.value, *kind));
  }

  // The objects in a text; what is wrong with it is its engine's or its program's matter.
  std::vector<Value> values_in(const Value& text) const {
    const std::string* content = text.as_string();
    std::vector<Value> values;
    if (content == nullptr || content->find("apiVersion") == std::string::npos ||
        content->find("kind") == std::string::npos)
      return values;
    doc::Diagnostics not_reported;
    if (const auto region = doc::block_region(text))
      values = doc::parse_yaml(text.span.source, index_, *region, not_reported);
    else if (auto value = doc::parse_embedded_yaml(text, not_reported))
      values.push_back(*std::move(value));
    return values;
  }

  void add(const CarrierRow& row, const HeldValue& place, Value value) {
    if (!value.is_object() || doc::text_in(value, "kind").empty()) return;
    Document inner{.value = std::move(value), .origin = document_.origin};
    describe(inner);
    inner.block = document_.block;
    inner.elided = document_.elided;
    inner.verb = document_.verb;
    inner.carrier = document_.label();
    // What is in a template is filled in with it, what is in a part is a part.
    const bool inherits = !document_.carrier.empty() && document_.carried_as != DocumentKind::kManifest;
    inner.carried_as = inherits && row.holds == DocumentKind::kManifest ? document_.carried_as : row.holds;
    const bool absent = !row.absent_key.empty() && !place.around.empty() &&
                        doc::text_in(*place.around.front(), row.absent_key) == row.absent_value;
    if (absent) inner.verb = Verb::kDelete;
    inner_.push_back(std::move(inner));
  }

  const Document& document_;
  const doc::LineIndex& index_;
  std::vector<Document> inner_;
};

}  // namespace

std::vector<Document> carried_by(const Document& document, const doc::LineIndex& index) {
  return Unpacker(document, index).unpack();
}

std::string_view why_it_makes(std::string_view group, std::string_view kind, bool known) {
  const CarrierTable& table = table_of_carriers();
  for (const MakerRow& row : table.makers)
    if (row.kind == kind && row.group == group) return row.why;
  if (known || group.empty() || table.inert_groups.contains(group)) return "";
  return "is of a kind that is not known";
}

}  // namespace railbed::check
