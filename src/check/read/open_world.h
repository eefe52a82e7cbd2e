// SPDX-License-Identifier: Apache-2.0
// What may exist besides what was read: the condition under which "it is not there" is an error.
//
// Why: a file that another program fills in, a chart, a kind that is not known or a file that was not given may make
// the network or the resource that a pod asks for. Absence is certain only if everything of the environment that could
// make the thing was read, and if something ties both together: one file, one kustomization, one rendering, or the
// user's word (--together). Otherwise it is a note that names what was not read. Threading: values; pure functions.
// Failure: none.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/read/bundle.h"
#include "check/read/environments.h"
#include "check/read/kustomizations.h"
#include "check/read/prefixes.h"

namespace railbed::check {

struct World {
  // Names, without namespace and prefix, of networks and resources that anything in the run makes: also parts,
  // templates and alternatives that are not judged together.
  std::set<std::string, std::less<>> networks;
  std::set<std::string, std::less<>> resources;
  std::vector<NotRead> not_read;  // what may make more
  // "IPPool/rail0": all objects of the run, in whichever file.
  std::set<std::string, std::less<>> objects = {};
  // Files with an object that another file of their folder gives differently: which of them is applied is not known.
  std::set<std::string, std::less<>> versions = {};
  std::vector<PrefixSign> prefixes = {};  // of the names of resources
  Kustomizations kustomizations;
  Environments environments;
  bool together = false;  // the user says that the files are all there is

  // Whether one apply takes both documents.
  bool tied(const Document& one, const Document& other) const;
  // Whether two files are of different environments: demos or clusters side by side.
  bool apart(std::string_view one, std::string_view other) const;
};

// `unopened`: files beside the bundle's that may make objects and are in languages that are not read.
World world_of(const Bundle& bundle, Kustomizations kustomizations, std::span<const NotRead> unopened);

// How certain it is that something is not there.
struct Absence {
  doc::Severity severity = doc::Severity::kError;
  std::string why;  // why it is no error; empty for one
};

// Of what `user` needs and none of `makers` makes. `near`: one of them makes something with nearly its name.
Absence absence_of(const World& world, const Document& user, std::span<const Document* const> makers, bool near);

// Whether two names differ in their numbers alone, so that neither is a slip of the other.
bool differ_in_numbers(std::string_view one, std::string_view other);

}  // namespace railbed::check
