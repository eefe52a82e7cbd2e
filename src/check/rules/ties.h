// SPDX-License-Identifier: Apache-2.0
// Which objects are held against each other: those that somebody applies together.
//
// Why: a repository has the manifests of several clusters, demos and versions. An object of one says nothing of an
// object of another, even where their names are equal. So every rule that ties two objects asks here, or names the
// other object in its finding (notes, grounds), and judge() asks: what rests on two objects that nothing ties is not
// sure.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "check/rules/rule.h"

namespace railbed::check {

// What shows of two objects whether both are applied; without it all belong together.
struct Ties {
  const World* world = nullptr;
  const Policy* policy = nullptr;

  Ties() = default;
  Ties(const Settings& settings) : world(settings.world), policy(settings.policy) {}  // settings are ties
};

// Whether both are of one environment: of one file, kustomization, rendering or server; of one environment that the
// project file names; of one folder, or of folders that complete each other, unless one of them is in a file that is
// one of several versions; or the user says that all files are one bundle.
bool belong_together(const Ties& ties, const Document& one, const Document& other);

// Of several candidates those that belong to `user`; all of them where none does.
template <typename T, typename DocumentOf>
std::vector<T> nearest_to(const Ties& ties, const Document& user, std::vector<T> all, DocumentOf document_of) {
  std::vector<T> near;
  std::ranges::copy_if(all, std::back_inserter(near),
                       [&](const T& one) { return belong_together(ties, user, *document_of(one)); });
  return near.empty() ? all : near;
}

}  // namespace railbed::check
