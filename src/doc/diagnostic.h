// SPDX-License-Identifier: Apache-2.0
// A message to a user about their input: a finding with its location, the reason, and what to do.
//
// Why: an Error reports that an operation of railbed failed; a Diagnostic reports that something in a manifest is wrong
// or odd. One pass collects all of them; the caller sorts, prints and decides. Ids ("RB-YAML-001") are stable:
// documented, searchable, and used by SARIF and by tests.
//
// Threading: plain values.
// Failure: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::doc {

enum class Severity : uint8_t { kNote, kWarning, kError };
std::string_view severity_name(Severity severity);

// A change of a text that a machine can make safely: `length` bytes from `offset` become `text`. `origin` is set for
// text that was moved: the byte where it was before, so that messages can name places in it.
struct Edit {
  SourcePtr source;
  size_t offset = 0;
  size_t length = 0;
  std::string text;
  std::optional<size_t> origin;
};

// What part of the input a finding was made of.
enum class Layer : uint8_t {
  kMeaning,   // what objects mean, alone or together
  kText,      // YAML and JSON as such, also where they stand inside another text
  kObject,    // an object, compared with its kind
  kEmbedded,  // a text with fields of its own inside an object: a CNI configuration, addresses, an annotation
};

// What a finding says, as far as other code has to know it. Its id and its words are for people: code that drops,
// folds or repairs findings asks for this, and who makes a finding says it.
enum class Says : uint8_t {
  kOther,
  kBadIndentation,     // the line stands at a column that does not fit those around it
  kDots,               // dots stand in the place of what was left out
  kPlaceholder,        // a placeholder was not replaced
  kUnknownKind,        // objects of this kind are left out
  kGivenTwice,         // the object is there before
  kUnknownField,       // no object around has such a field
  kMisplacedField,     // the field belongs to another object
  kWrongType,          // a text where a number is wanted
  kMissingField,       // the subject's field is not there, or one of several
  kMisspeltField,      // the subject's field is not there, but one with nearly its name
  kEmptyField,         // the subject's field is there without a value
  kMissingNetwork,     // a pod asks for a network that is not there
  kMissingResource,    // a network takes its VFs from a resource that no policy creates
  kMatchesNoNic,       // the policy's nicSelector matches nothing
  kSelectsNoNode,      // the policy's nodeSelector matches nothing
  kAboveWebhookLimit,  // the operator's webhook refuses so many VFs
  kBadName,            // the name has characters that no name may have, or too many
  kWithoutKind,        // a manifest that has no kind
  kDuplicateKey,       // the object has the key before
  kFilledIn,           // values that are filled in later are not judged
  kNoResource,         // a network of VFs names no resource to take them from
  kWrongVersion,       // the kind is in another apiVersion
  kUnknownType,        // the fields of a plugin or ipam of this type are not compared
  kNotRead,            // a file or a block is no manifest, or in a language that is not read
};

// How sure it is that a finding is right; how bad it is, its severity says. A run fails for errors that are kHigh.
enum class Confidence : uint8_t {
  kLow,  // something is absent, and not everything that could make it was read
  // Rests on a template, an example of a page or a part of an object; on two objects that nothing applies together; on
  // the nodes that are known, for pods that may run on others.
  kMedium,
  kHigh,  // the text alone shows it, or two written objects contradict each other
};
std::string_view confidence_name(Confidence confidence);

// What a machine may do with the edits of a finding.
enum class Applicability : uint8_t {
  kNone,       // there are none, or the text is not the user's to repair
  kSuggested,  // shown, and applied on request: a person should read the result
  kSafe,       // the text of a manifest, with one repair that is right
};
std::string_view applicability_name(Applicability applicability);

// Whom a finding is for.
enum class Audience : uint8_t {
  kEveryone,
  // Who runs railbed on one machine: `plan` and `up` do not do what other parts of a cluster do. `check` judges
  // manifests for a cluster and leaves such findings out.
  kOneMachine,
};

// What a finding is about, also where no text is: objects of an API server have neither files nor lines.
struct Subject {
  std::string kind;    // "SriovNetwork"; empty: no object is known
  std::string object;  // "ai/rail0", "rail0" in the namespace "default"; empty where the object has no name
  std::string field;   // "spec.nicSelector.vendor"; empty: the object itself

  std::string to_string() const;  // "SriovNetwork ai/rail0: spec.ipam"
};

struct Diagnostic {
  struct Note {
    Span span;
    std::string text;
  };

  std::string id;
  Severity severity = Severity::kError;
  Span span;
  std::string message;
  std::vector<Note> notes;  // other places that explain it
  std::string fix;          // one sentence or a line to write instead; may be empty
  std::vector<Edit> edits;  // `fix` as changes to the text; empty where a person has to decide
  // The name that was looked for and not found. If that name occurs in a text that could not be read, this finding is
  // only a consequence of that one's error.
  std::string missing;
  Subject subject;
  Layer layer = Layer::kMeaning;
  Says says = Says::kOther;
  // A finding of the same object that says this only follows from this one.
  Says explains = Says::kOther;
  Audience audience = Audience::kEveryone;
  Confidence confidence = Confidence::kHigh;
  Applicability applicability = Applicability::kNone;
  bool fails_where_applied = false;  // an error where the text is applied as it is; else a warning
  bool preview = false;              // of a rule that has not proven itself yet: never an error
  std::string document_class;        // of the document around it: "manifest", "page", …; empty: of no document
  std::string why;                   // why it is less than sure, or less severe than its rule says; may be empty
  std::string fingerprint;         // the same for the same mistake in a later version of the text; empty: not computed
  std::vector<Span> grounds = {};  // places in other objects that it rests on and does not show
  bool alone = false;              // its own object is wrong, whatever other objects its notes show

  Diagnostic& note(Span where, std::string text);
  Diagnostic& with_fix(std::string text);
  Diagnostic& with_edit(Span where, std::string text);
  bool is(Layer where, Says what) const { return layer == where && says == what; }

  Diagnostic& looks_for(std::string name);
  Diagnostic& of(Layer where);
  Diagnostic& that_says(Says what);
  Diagnostic& that_explains(Says what);
  Diagnostic& about_field(std::string path);
  Diagnostic& for_one_machine();
  Diagnostic& that_fails_where_applied();
  Diagnostic& rests_on(Span where);
  Diagnostic& rests_on_itself();
  // Lowers the confidence to `most`, with the reason; one that is lower stays.
  Diagnostic& at_most(Confidence most, std::string reason);
};

// Collects the findings of one run.
class Diagnostics {
 public:
  Diagnostic& error(std::string_view id, Span span, std::string message);
  Diagnostic& warning(std::string_view id, Span span, std::string message);
  Diagnostic& note(std::string_view id, Span span, std::string message);

  const std::vector<Diagnostic>& all() const { return all_; }
  std::vector<Diagnostic>& mutable_all() { return all_; }
  bool has_errors() const;
  size_t count(Severity severity) const;
  void append(Diagnostics other);
  // By source name, line, column; findings without a place come last. Stable.
  void sort();

 private:
  std::vector<Diagnostic> all_;
};

// "policy.yaml:14:11: error: message [RB-VF-002]", the source line with a caret below it, then notes (with
// their lines) and the fix. Ends with a newline. Long lines are cut around the column. Where there is no text, the
// subject stands in the place of file, line and column.
std::string render(const Diagnostic& diagnostic);
std::string render(const Diagnostics& diagnostics);

// The candidate that was probably intended: edit distance at most 2 (1 for names under 5 bytes), ignoring case; empty
// when none is close.
std::string nearest(std::string_view wrong, const std::vector<std::string_view>& candidates);
// Whether one letter is wrong, missing or too many, or two neighbours are swapped.
bool are_one_slip_apart(std::string_view one, std::string_view other);

}  // namespace railbed::doc
