// SPDX-License-Identifier: Apache-2.0
#include "check/findings/judgement.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/fnv1a.h"
#include "check/findings/fold.h"
#include "check/read/objects.h"
#include "check/read/paths.h"
#include "check/read/purpose.h"
#include "check/read/served_versions.h"
#include "check/rules/maturity.h"
#include "check/rules/ties.h"
#include "doc/json.h"

namespace railbed::check {
namespace {

using doc::Confidence;
using doc::Diagnostic;
using doc::Value;

// The words of the classes that findings are treated by.
constexpr std::string_view kManifestClass = "manifest";
constexpr std::string_view kPageClass = "page";
constexpr std::string_view kPartClass = "part";
// Of a document without a sign of a manifest its author may write it; what fills in a template does so for others.
constexpr std::string_view kOtherClass = "other";

// As the reader has classified it (check/read/classify.h).
std::string_view class_of_document(const Document& document) {
  const bool example =
      document.origin == Origin::kFence || document.origin == Origin::kProse || document.origin == Origin::kScript;
  return example && document.cls.is(DocumentKind::kManifest) ? kPageClass : class_name(document.cls.kind);
}

// Groups in which a field seldom comes to a second place: elsewhere a newer version may have it there, too.
bool has_settled_fields(std::string_view group) {
  return is_of_kubernetes(group) || group == "k8s.cni.cncf.io" || group == "sriovnetwork.openshift.io";
}

// "metadata.x": every kind has the same metadata, and all versions have the same fields of it; so has the template of a
// pod in the kinds of settled groups.
bool is_of_metadata(std::string_view field, std::string_view group) {
  constexpr std::string_view kMetadata = "metadata.";
  const size_t last = field.rfind('.');
  if (last == std::string_view::npos || field.back() == ']') return false;
  const std::string_view around = field.substr(0, last + 1);
  return around == kMetadata || (around.ends_with(".metadata.") && has_settled_fields(group));
}

// Whether a field that is not known stands where no version has another one than those that are: at the top of an
// object, and beside the configuration of an attachment definition.
bool is_where_all_fields_are_known(const Diagnostic& finding, std::string_view group) {
  if (!finding.is(doc::Layer::kObject, doc::Says::kUnknownField)) return false;
  std::string_view field = finding.subject.field;
  if (is_of_metadata(field, group)) return true;
  if (group == "k8s.cni.cncf.io" && field.starts_with("spec.")) field.remove_prefix(std::string_view("spec.").size());
  return has_settled_fields(group) && !field.empty() && field.find_first_of(".[") == std::string_view::npos;
}

// Blanks at the ends and runs of blanks do not make another value.
std::string without_extra_blanks(std::string_view text) {
  std::string out;
  bool blank = false;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_blank && blank && !out.empty()) out += ' ';
    if (!is_blank) out += c;
    blank = is_blank;
  }
  return out;
}

// The part of a value that is around an offset: the last one that begins at or before it.
struct InnerPart {
  const doc::Span* begin = nullptr;
  const Value* value = nullptr;
};

InnerPart inner_part(const Value& value, const doc::Span& place) {
  InnerPart last;
  const auto look_at = [&](const doc::Span& begin, const Value& part) {
    if (begin.source == place.source && begin.offset <= place.offset &&
        (last.begin == nullptr || begin.offset >= last.begin->offset))
      last = {&begin, &part};
  };
  if (const Value::Array* items = value.as_array())
    for (const Value& item : *items) look_at(item.span, item);
  if (const Value::Object* members = value.as_object())
    for (const Value::Member& member : *members) look_at(member.key_span, member.value);
  return last;
}

// The innermost value that begins at the place, or whose key does; null where none does.
const Value* value_at(const Value& value, const doc::Span& place) {
  const Value* found = nullptr;
  for (InnerPart part = inner_part(value, place); part.value != nullptr; part = inner_part(*part.value, place))
    if (part.begin->offset == place.offset || part.value->span.offset == place.offset) found = part.value;
  return found;
}

// A scalar as text; of what has parts only that it has some, since each of them may change.
std::string normalized(const Value& value) {
  if (const std::string* text = value.as_string()) return without_extra_blanks(*text);
  if (value.is_object()) return "{}";
  if (value.is_array()) return "[]";
  return doc::to_json(value);
}

// The line of a place, as far as it matters: a line may be as long as the file.
std::string_view line_around(const doc::Span& span) {
  constexpr size_t kReach = 200;
  const std::string_view text = span.source->text;
  const size_t at = std::min<size_t>(span.offset, text.size());
  const size_t back = std::min(at, kReach);
  const std::string_view before = text.substr(at - back, back);
  const size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const std::string_view line = text.substr(at - back + begin, back - begin + kReach);
  return line.substr(0, line.find('\n', back - begin));
}

std::string_view marked_text(const doc::Span& span) {
  const std::string_view text = span.source->text;
  return text.substr(std::min<size_t>(span.offset, text.size()), static_cast<size_t>(std::max(span.length, 0)));
}

class Judge {
 public:
  Judge(const Bundle& bundle, const Settings& settings) : objects_(bundle), settings_(settings) {
    std::map<const doc::Source*, int> documents;
    for (const Document& document : bundle.documents)
      numbers_[&document] = ++documents[document.value.span.source.get()];
  }

  // Whether the finding is one.
  bool judge(Diagnostic& finding) const {
    const Document* document = objects_.at(finding.span);
    const std::optional<GivenClass> given =
        settings_.policy == nullptr ? std::nullopt : settings_.policy->class_of(finding.span);
    classify(finding, document, given);
    if (given == GivenClass::kTemplate && (is_missing(finding) || finding.layer == doc::Layer::kText)) return false;
    if (finding.fingerprint.empty()) {  // judged for the first time: what was lowered later stays low
      finding.fingerprint = fingerprint(finding, document);
      promote(finding, document);
    }
    weigh(finding, given);
    if (is_left_out(finding)) finding.edits.clear();
    decide_repair(finding);
    return true;
  }

 private:
  static void classify(Diagnostic& finding, const Document* document, std::optional<GivenClass> given) {
    if (given) {
      finding.document_class = given_class_name(*given);
    } else if (finding.document_class.empty() && document != nullptr) {
      finding.document_class = class_of_document(*document);
      const bool plain = finding.document_class == kPageClass || finding.document_class == kOtherClass;
      if (finding.why.empty() && !plain) finding.why = document->cls.why;
    } else if (finding.document_class.empty() && finding.span.source != nullptr && is_page(finding.span.source->name)) {
      finding.document_class = kPageClass;
    }
  }

  // A word that is nearly the right one, a field with one place where it belongs, or one where all fields are known, in
  // a text that is applied as it is: an API server with strict validation refuses the object, and everyone else ignores
  // the word. Other unknown fields may be those of a newer version.
  static void promote(Diagnostic& finding, const Document* document) {
    if (finding.severity != doc::Severity::kWarning || finding.document_class != kManifestClass) return;
    const std::string_view group = document == nullptr ? "?" : document->group();
    const bool moved = finding.is(doc::Layer::kObject, doc::Says::kMisplacedField) && has_settled_fields(group) &&
                       (!finding.edits.empty() || is_of_kubernetes(group));
    if (!finding.fails_where_applied && !moved && !is_where_all_fields_are_known(finding, group)) return;
    finding.fails_where_applied = true;
    finding.severity = doc::Severity::kError;
  }

  // Calls `is` with each other object that the finding rests on, until it returns true.
  template <typename Is>
  bool any_other(const Diagnostic& finding, Is is) const {
    if (finding.alone) return false;
    const Document* own = objects_.at(finding.span);
    const auto look_at = [&](const doc::Span& place) {
      const Document* other = objects_.at(place);
      return other != nullptr && other != own && is(own, *other);
    };
    return std::ranges::any_of(finding.notes, look_at, &Diagnostic::Note::span) ||
           std::ranges::any_of(finding.grounds, look_at);
  }

  // Whether it rests on more than the object that it points at.
  bool relates(const Diagnostic& finding) const {
    return !finding.missing.empty() || any_other(finding, [](const Document*, const Document&) { return true; });
  }

  // An object that it rests on and that nothing applies together with its own; null where there is none. What is found
  // of one object (fields, types) stays as it is, whatever else it names.
  const Document* stranger(const Diagnostic& finding) const {
    const Document* found = nullptr;
    if (finding.layer != doc::Layer::kMeaning) return found;
    any_other(finding, [&](const Document* own, const Document& other) {
      if (own != nullptr && !belong_together(settings_, *own, other)) found = &other;
      return found != nullptr;
    });
    return found;
  }

  // What helm applies with a file of a chart is known after rendering.
  void weigh_chart(Diagnostic& finding) const {
    const Document* document = objects_.at(finding.span);
    if (document == nullptr || document->chart.empty() || !relates(finding)) return;
    finding.at_most(
        Confidence::kMedium,
        fmt::format("it is a file of the chart {}, whose other templates are not rendered", document->chart));
  }

  // A page that shows what is refused.
  void weigh_purpose(Diagnostic& finding) const {
    if (finding.document_class != kPageClass || finding.severity != doc::Severity::kError) return;
    const Document* document = objects_.at(finding.span);
    if (document == nullptr || document->value.span.source == nullptr) return;
    const size_t begin = document->block == 0 ? document->value.span.offset : document->block;
    if (is_wrong_on_purpose(document->value.span.source->text, begin))
      finding.at_most(Confidence::kMedium, "the page shows it as an example of what is wrong");
  }

  void weigh(Diagnostic& finding, std::optional<GivenClass> given) const {
    weigh_chart(finding);
    weigh_purpose(finding);
    const Maturity& maturity = maturity_of(finding.id);
    finding.preview |= maturity.state == RuleState::kPreview;
    if (finding.preview && finding.severity == doc::Severity::kError) finding.severity = doc::Severity::kWarning;
    if (given == GivenClass::kTemplate) {
      finding.at_most(Confidence::kMedium, "the project file says that the file is a template");
    } else if (given == GivenClass::kFixture) {
      if (finding.severity != doc::Severity::kError) return;
      finding.severity = doc::Severity::kWarning;
      finding.why = "the project file says that the file is a fixture, which may be wrong on purpose";
    } else if (finding.document_class == kPageClass && relates(finding)) {
      finding.at_most(Confidence::kMedium, "the object is an example of a page, and what it needs may be elsewhere");
    } else if (finding.document_class == kPartClass && relates(finding)) {
      finding.at_most(Confidence::kMedium, "the object is a part, and what it is merged with is not read");
    } else if (const Document* other = stranger(finding)) {
      finding.at_most(Confidence::kMedium,
                      fmt::format("nothing applies it together with {} of {}, so they may be of two environments",
                                  other->label(), other->value.span.source->name));
    }
  }

  // What a project file or an option ignores stays as it is written.
  bool is_left_out(const Diagnostic& finding) const {
    if (settings_.policy == nullptr || finding.edits.empty()) return false;
    Diagnostic copy = finding;
    return judged(*settings_.policy, copy).what != Verdict::What::kShown;
  }

  static void decide_repair(Diagnostic& finding) {
    const bool manifest = finding.document_class.empty() || finding.document_class == kManifestClass;
    if (!manifest && finding.document_class != kPageClass && finding.document_class != kOtherClass) {
      finding.fix.clear();
      finding.edits.clear();
    }
    finding.applicability = doc::Applicability::kNone;
    if (finding.edits.empty()) return;
    const bool safe = manifest && finding.confidence == Confidence::kHigh && !finding.preview;
    finding.applicability = safe ? doc::Applicability::kSafe : doc::Applicability::kSuggested;
  }

  std::string file_of_finding(const Diagnostic& finding) const {
    if (finding.span.source == nullptr) return "";
    const SourcePlace* place = settings_.policy == nullptr ? nullptr : settings_.policy->place_of(finding.span);
    return place == nullptr ? plain_path(finding.span.source->name) : place->path;
  }

  std::string fingerprint(const Diagnostic& finding, const Document* document) const {
    std::string text = finding.id + '\n';
    if (document == nullptr) {
      text += file_of_finding(finding) + '\n' + finding.subject.to_string() + '\n';
      if (finding.span.known()) text += without_extra_blanks(line_around(finding.span));
    } else {
      text += document->name.empty()
                  ? fmt::format("{} {}#{}", document->kind, file_of_finding(finding), numbers_.at(document))
                  : fmt::format("{} {}/{}", document->kind, document->ns, document->name);
      text += '\n' + finding.subject.field + '\n';
      const Value* value = is_missing(finding) ? nullptr : value_at(document->value, finding.span);
      if (value != nullptr)
        text += normalized(*value);
      else if (is_missing(finding))
        text += "missing";
      else if (finding.span.known())  // a word of an embedded text
        text += without_extra_blanks(marked_text(finding.span));
    }
    text += '\n' + finding.missing;
    return fmt::format("{:016x}", fnv1a(text));
  }

  ObjectIndex objects_;
  const Settings& settings_;
  std::map<const Document*, int> numbers_;  // of a document in its source
};

}  // namespace

void judge(const Bundle& bundle, const Settings& settings, doc::Diagnostics& findings) {
  if (findings.all().empty()) return;
  const Judge one(bundle, settings);
  std::erase_if(findings.mutable_all(), [&](Diagnostic& finding) { return !one.judge(finding); });
}

std::vector<std::string> fingerprints(const doc::Diagnostics& findings) {
  std::map<std::string_view, int> seen;
  std::vector<std::string> all;
  all.reserve(findings.all().size());
  for (const Diagnostic& finding : findings.all()) {
    const int number = ++seen[finding.fingerprint];
    all.push_back(number == 1 ? finding.fingerprint : fmt::format("{}-{}", finding.fingerprint, number));
  }
  return all;
}

}  // namespace railbed::check
