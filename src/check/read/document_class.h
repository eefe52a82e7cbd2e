// SPDX-License-Identifier: Apache-2.0
// What a document is, with the reason: only a manifest is judged for what is missing in it.
//
// Why: a file that looks like a manifest may be a patch, a template, an assertion of a test, the settings of another
// program or something that an API server printed. What each of them leaves out is no mistake. So one classifier
// (classify.h) decides, once, and everything else asks for its answer.
// Threading: plain values.
// Failure: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace railbed::check {

enum class DocumentKind : uint8_t {
  kManifest,   // apiVersion and kind of a known kind, fields that fit, a name: it is applied as it is
  kPart,       // changes an object, or names it: a patch, `state: patched`, what a policy demands
  kTemplate,   // an engine fills it in
  kAssertion,  // is compared with an object: kuttl, Chainsaw
  kCarrier,    // holds other objects, which are documents of their own
  kPage,       // an example with placeholders
  kOther,      // the configuration of another program, or of a kind that is not known
  kOutput,     // a program printed it
};

// "manifest", "part", "template", "assertion", "carrier", "page", "other", "output"
std::string_view class_name(DocumentKind kind);

struct DocumentClass {
  DocumentKind kind = DocumentKind::kManifest;
  std::string why;  // "a patch that overlay/kustomization.yaml lists"; empty for a manifest

  bool is(DocumentKind one) const { return kind == one; }
};

}  // namespace railbed::check
