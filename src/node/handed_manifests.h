// SPDX-License-Identifier: Apache-2.0
// The manifests that `up` hands over to the running agent, kept in the state.
//
// Why: an agent attaches the pods for `up`, and has to know the same pods and networks, wherever their files are. Both
// share the state: it is available to the next agent too, and is deleted at a reboot like the attachments. Each `up`
// replaces the manifests of the last one; `down` removes them.
// Threading: as state::Store; the process that hands over holds its lock.
// Failure: of the store; Invalid for a note that cannot be read.
#pragma once

#include <vector>

#include "doc/value.h"
#include "state/store.h"

namespace railbed::node {

// Names of files are absolute: of those in its own folder an agent knows more, since it reads them for every pod.
Result<void> hand_over(state::Store& store, const std::vector<doc::SourcePtr>& manifests);
Result<void> forget_handed_over(state::Store& store);

// As written by hand_over(); empty: none. What has not changed has the same text.
Result<std::string> handed_over_text(state::Store& store);
Result<std::vector<doc::SourcePtr>> read_handed_over(const std::string& text);

}  // namespace railbed::node
