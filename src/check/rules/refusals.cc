// SPDX-License-Identifier: Apache-2.0
#include "check/rules/refusals.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "base/object_names.h"
#include "check/data_files.h"
#include "check/read/placeholders.h"
#include "check/read/served_versions.h"
#include "check/rules/lookups.h"
#include "check/rules/refused.h"
#include "check/rules/value_forms.h"
#include "doc/json.h"
#include "schema/quantity.h"
#include "schema/schema.h"

namespace railbed::check {
namespace {

using doc::Value;

const Value::Array& refusal_rows() {
  static const Value kData = data_document("refusals.yaml");
  return *kData.find("rows")->as_array();
}

// Keys of a row that say what is wanted.
constexpr std::string_view kFormKeys[] = {"form", "keys", "text", "devices"};
constexpr std::string_view kGroupKeys[] = {"at_most", "exactly", "any_of", "never", "equal"};

// What a row is about: an object, a pod, a container, a plugin.
struct Thing {
  std::string_view sort;  // as in `of`; of an object its kind
  const Value* value = nullptr;
  std::string label;
  const Document* document = nullptr;
  bool verbatim = true;
};

// A place below a thing.
struct Spot {
  const Value* value = nullptr;
  std::string path;
};

std::string joined_path(const std::string& before, std::string_view key) {
  return before.empty() ? std::string(key) : fmt::format("{}.{}", before, key);
}

void collect_spots(const Value& value, std::string_view path, const std::string& so_far, std::vector<Spot>& out) {
  if (path.empty()) {
    out.push_back({&value, so_far});
    return;
  }
  if (!value.is_object()) return;
  const size_t dot = path.find('.');
  std::string_view step = path.substr(0, dot);
  const std::string_view rest = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  const bool items = step.ends_with("[]");
  if (items) step.remove_suffix(2);
  for (const Value::Member& member : *value.as_object()) {
    if (step != "*" && member.key != step) continue;
    const std::string here = joined_path(so_far, member.key);
    if (!items) {
      collect_spots(member.value, rest, here, out);
    } else if (const Value::Array* list = member.value.as_array()) {
      for (size_t i = 0; i < list->size(); ++i) collect_spots((*list)[i], rest, fmt::format("{}[{}]", here, i), out);
    }
  }
}

std::vector<Spot> spots_of(const Thing& thing, const Value& row) {
  std::vector<Spot> spots;
  collect_spots(*thing.value, text_at(row, "at"), "", spots);
  return spots;
}

// A scalar as a text; nullopt for what has parts, and for nothing.
std::optional<std::string> scalar_text(const Value& value) {
  if (value.is_null() || value.is_object() || value.is_array()) return std::nullopt;
  if (const std::string* text = value.as_string()) return *text;
  if (const bool* flag = value.as_bool()) return *flag ? "true" : "false";
  return value.written().empty() ? doc::to_json(value) : std::string(value.written());  // an API server's has no text
}

// Whether a step that is not read writes another text there: in a path or a reference, one part of it may be a word
// that stands for another (quay.io/OWNER/app).
bool stands_for_another(std::string_view text) {
  if (is_filled_in_later(text) || is_placeholder(text) || is_replaced_word(text)) return true;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("/:"), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.size() > 1 && may_be_placeholder(part)) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

// Whether a document is applied as it is: a manifest, or an object of a kind without a schema, in which only pods are
// judged.
bool is_applied_as_it_is(const Document& document) {
  if (!is_whole_object(document) || document.engine != nullptr || document.filled_in.known()) return false;
  if (document.cls.is(DocumentKind::kManifest)) return true;
  return document.cls.is(DocumentKind::kOther) && !document.api_version.empty() && !document.name.empty() &&
         schema::find_schema(document.api_version, document.kind) == nullptr;
}

std::string_view who_refuses(const Thing& thing, const Value& row) {
  if (const std::string_view who = text_at(row, "who"); !who.empty()) return who;
  if (thing.sort != "pod" && thing.sort != "container") return "the API server refuses it";
  const bool own = is_of_kubernetes(thing.document->group()) || thing.document->group() == "extensions";
  return own ? "the API server refuses it" : "the API server refuses the pods made from it";
}

// Whether the text, words with blanks between them, has this word.
bool has_listed_word(std::string_view text, std::string_view word) {
  while (!word.empty() && !text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (text.substr(0, end) == word) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

bool is_value_there(const Value* value) {
  return value != nullptr && !value->is_null();
}

// Whether the value at `path` is as a condition says: "+" is there, "-" is not, else one of the words; of a list, an
// item is.
bool is_as_wanted(const Value& around, std::string_view path, std::string_view wanted) {
  const Value* value = at(around, path);
  if (wanted == "-") return !is_value_there(value);
  if (!is_value_there(value)) return false;
  if (wanted == "+") return value->as_string() == nullptr || !value->as_string()->empty();
  const auto is_a_word = [&](const Value& one) { return has_listed_word(wanted, scalar_text(one).value_or("")); };
  if (const Value::Array* items = value->as_array()) return std::ranges::any_of(*items, is_a_word);
  return is_a_word(*value);
}

bool are_all_as_wanted(const Value& around, const Value& conditions) {
  return std::ranges::all_of(*conditions.as_object(), [&](const Value::Member& one) {
    return is_as_wanted(around, one.key, *one.value.as_string());
  });
}

bool is_row_about(const Value& row, const Thing& thing) {
  if (!has_listed_word(text_at(row, "of"), thing.sort)) return false;
  if (!thing.verbatim && flag_at(row, "verbatim").value_or(false)) return false;
  const Value* when = row.find("when");
  return when == nullptr || are_all_as_wanted(*thing.value, *when);
}

// ── forms ──

void add_fix(doc::Diagnostic& reported, const Value& row) {
  if (const std::string_view fix = text_at(row, "fix"); !fix.empty()) reported.with_fix(std::string(fix));
}

void judge_form(const Thing& thing, const Spot& spot, const Value& row, Findings& out) {
  const ValueForm* form = find_form(text_at(row, "form"));
  const std::optional<std::string> text = scalar_text(*spot.value);
  // An empty text is as none: what has to be there is the schema's.
  if (form == nullptr || !text || text->empty() || form->fits(*text) || stands_for_another(*text)) return;
  const std::string message = fmt::format("{}: {} must be {}, found \"{}\": {}", thing.label, spot.path, form->words,
                                          *text, who_refuses(thing, row));
  doc::Diagnostic& reported = flag_at(row, "warns").value_or(false) ? out.warning(spot.value->span, message)
                                                                    : out.error(spot.value->span, message);
  add_fix(reported.about_field(spot.path), row);
}

void judge_keys(const Thing& thing, const Spot& spot, const Value& row, Findings& out) {
  const ValueForm* form = find_form(text_at(row, "keys"));
  if (form == nullptr || !spot.value->is_object()) return;
  for (const Value::Member& member : *spot.value->as_object()) {
    if (form->fits(member.key) || is_filled_in_later(member.key)) continue;
    add_fix(out.error(member.key_span, fmt::format("{}: a key of {} must be {}, found \"{}\": {}", thing.label,
                                                   spot.path, form->words, member.key, who_refuses(thing, row)))
                .about_field(joined_path(spot.path, member.key)),
            row);
  }
}

// Where a schema describes the object, it has reported the type.
bool has_schema_of(const Document& document) {
  return schema::find_schema(document.api_version, document.kind) != nullptr;
}

void judge_text(const Thing& thing, const Spot& spot, const Value& row, Findings& out) {
  const Value& value = *spot.value;
  const bool other = value.as_bool() != nullptr || value.as_int() != nullptr || value.as_double_exact() != nullptr;
  if (!other || has_schema_of(*thing.document)) return;
  out.error(value.span, fmt::format("{}: {} must be a string, found {}: {}", thing.label, spot.path,
                                    scalar_text(value).value_or(""), who_refuses(thing, row)))
      .about_field(spot.path)
      .with_fix(fmt::format("put it in quotes: \"{}\"", scalar_text(value).value_or("")));
}

// VFs, GPUs: what is counted in whole devices. Kubernetes' own (kubernetes.io/batch-cpu) may be parts.
bool is_device_resource(std::string_view name) {
  return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos;
}

void judge_devices(const Thing& thing, const Spot& spot, const Value& row, Findings& out) {
  if (!spot.value->is_object() || thing.document->kind == "Pod") return;  // of a Pod its reader says it
  for (const Value::Member& member : *spot.value->as_object()) {
    if (!is_device_resource(member.key) || !schema::is_quantity(member.value)) continue;
    if (schema::whole_quantity(member.value)) continue;
    const bool negative = schema::approximate_quantity(member.value).value_or(0) < 0;
    if (negative && has_schema_of(*thing.document)) continue;  // reported with its bound
    out.error(member.value.span,
              fmt::format("{}: {}[{}] must be a whole number of devices, found {}: {}", thing.label, spot.path,
                          member.key, scalar_text(member.value).value_or(""), who_refuses(thing, row)))
        .about_field(fmt::format("{}[{}]", spot.path, member.key));
  }
}

void judge_forms(const Thing& thing, const Value& row, Findings& out) {
  for (const Spot& spot : spots_of(thing, row)) {
    if (row.find("form") != nullptr) judge_form(thing, spot, row, out);
    if (row.find("keys") != nullptr) judge_keys(thing, spot, row, out);
    if (row.find("text") != nullptr) judge_text(thing, spot, row, out);
    if (row.find("devices") != nullptr) judge_devices(thing, spot, row, out);
  }
}

// ── fields together ──

std::string named(const Thing& thing, const Spot& spot) {
  return spot.path.empty() ? thing.label : fmt::format("{}: {}", thing.label, spot.path);
}

// The members of the object that are among the fields and have a value.
std::vector<const Value::Member*> members_among(const Value& object, const std::vector<Word>& fields) {
  std::vector<const Value::Member*> found;
  for (const Value::Member& member : *object.as_object())
    if (!member.value.is_null() &&
        std::ranges::any_of(fields, [&](const Word& field) { return field.text == member.key; }))
      found.push_back(&member);
  return found;
}

// A misspelt or placed field beside it is another rule's.
bool has_unlisted_field(const Value& object, const std::vector<Word>& fields) {
  std::vector<std::string_view> names;
  for (const Word& field : fields) names.push_back(field.text);
  return std::ranges::any_of(*object.as_object(), [&](const Value::Member& member) {
    return std::ranges::find(names, std::string_view(member.key)) == names.end() &&
           (member.value.is_object() || !doc::nearest(member.key, names).empty());
  });
}

void judge_choice(const Thing& thing, const Spot& spot, const Value& row, std::string_view key, Findings& out) {
  if (!spot.value->is_object()) return;
  const std::vector<Word> fields = texts_at(row, key);
  const std::vector<const Value::Member*> found = members_among(*spot.value, fields);
  if (found.size() > 1 && key != "any_of") {
    out.error(found[1]->key_span, fmt::format("{} has {} and {}, and may have one of them: {}", named(thing, spot),
                                              found[0]->key, found[1]->key, who_refuses(thing, row)))
        .note(found[0]->key_span, "the other one")
        .with_fix("leave one of them out")
        .about_field(joined_path(spot.path, found[1]->key));
    return;
  }
  if (key == "at_most" || !found.empty() || has_unlisted_field(*spot.value, fields)) return;
  std::vector<std::string_view> names;
  for (const Word& field : fields) names.push_back(field.text);
  out.error(spot.value->span,
            fmt::format("{} has none of {}: {}", named(thing, spot), fmt::join(names, ", "), who_refuses(thing, row)))
      .with_fix("one of them")
      .about_field(spot.path);
}

void judge_pair(const Thing& thing, const Spot& spot, const Value& row, Findings& out) {
  const Value& never = *row.find("never");
  if (!spot.value->is_object() || !are_all_as_wanted(*spot.value, never)) return;
  const Value* last = nullptr;
  const Value* other = nullptr;
  for (const Value::Member& one : *never.as_object())
    if (const Value* there = at(*spot.value, one.key)) {
      other = last;
      last = there;
    }
  if (last == nullptr) return;
  auto& reported = out.error(
      last->span, fmt::format("{} {}: {}", named(thing, spot), text_at(row, "says"), who_refuses(thing, row)));
  if (other != nullptr) reported.note(other->span, "beside this");
  add_fix(reported.about_field(spot.path), row);
}

void judge_equal(const Thing& thing, const Spot& spot, const Value& row, Findings& out) {
  const std::vector<Word> fields = texts_at(row, "equal");
  const Value* first = at(*spot.value, fields[0].text);
  const Value* second = at(*spot.value, fields[1].text);
  if (first == nullptr || second == nullptr || first->as_int() == nullptr || second->as_int() == nullptr) return;
  if (*first->as_int() == 0 || *first->as_int() == *second->as_int()) return;
  out.error(first->span,
            fmt::format("{}: {} {} is not {} {}, and the pod is in the host's network: {}", named(thing, spot),
                        fields[0].text, *first->as_int(), fields[1].text, *second->as_int(), who_refuses(thing, row)))
      .note(second->span, fields[1].text + " is here")
      .with_fix(fmt::format("{}: {}, or leave it out", fields[0].text, *second->as_int()))
      .about_field(joined_path(spot.path, fields[0].text));
}

void judge_groups(const Thing& thing, const Value& row, Findings& out) {
  for (const Spot& spot : spots_of(thing, row)) {
    for (const std::string_view key : {"at_most", "exactly", "any_of"})
      if (row.find(key) != nullptr) judge_choice(thing, spot, row, key, out);
    if (row.find("never") != nullptr) judge_pair(thing, spot, row, out);
    if (row.find("equal") != nullptr) judge_equal(thing, spot, row, out);
  }
}

// ── things ──

template <typename Visit>
void each_pod_thing(const PodTemplate& pod, Visit visit) {
  const bool verbatim = makes_pods_verbatim(pod);
  visit(Thing{"pod", pod.spec, pod.label(), pod.document, verbatim});
  for (const Container& container : pod.containers)
    if (!container.made)
      visit(Thing{"container", container.value, fmt::format("container {} of {}", container.name, pod.label()),
                  pod.document, verbatim});
}

template <typename Visit>
void each_thing(const Input& in, Visit visit) {
  for (const Document& document : in.bundle.documents) {
    if (!is_applied_as_it_is(document)) continue;
    visit(Thing{document.kind, &document.value, document.label(), &document});
  }
  for (const PodTemplate& pod : in.pods)
    if (is_applied_as_it_is(*pod.document) && !pod.virtual_machine) each_pod_thing(pod, visit);
  for (const NetworkView& network : in.views.networks)
    if (is_applied_as_it_is(*network.document))
      for (const Value& plugin : network.plugins) visit(Thing{"plugin", &plugin, network.label(), network.document});
}

template <typename Judge>
void judge_things(const Input& in, std::span<const std::string_view> wanted, Judge judge) {
  std::vector<const Value*> rows;
  for (const Value& row : refusal_rows())
    if (std::ranges::any_of(wanted, [&](std::string_view key) { return row.find(key) != nullptr; }))
      rows.push_back(&row);
  each_thing(in, [&](const Thing& thing) {
    for (const Value* row : rows)
      if (is_row_about(*row, thing)) judge(thing, *row);
  });
}

}  // namespace

void value_of_a_wrong_form(const Input& in, Findings& out) {
  judge_things(in, kFormKeys, [&](const Thing& thing, const Value& row) { judge_forms(thing, row, out); });
}

void fields_that_do_not_go_together(const Input& in, Findings& out) {
  judge_things(in, kGroupKeys, [&](const Thing& thing, const Value& row) { judge_groups(thing, row, out); });
}

}  // namespace railbed::check
