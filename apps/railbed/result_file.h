// SPDX-License-Identifier: Apache-2.0
// The file of --save: opened before anything is measured, and written again after each size.
//
// Why: a sweep takes minutes, and a wrong path, a full disk, Ctrl-C or a peer that dies must not lose results.
// Threading: one thread. Failure: of opening and of writing, with the path. A plain file is replaced as a whole, so
// that a reader never sees half of a result, also after a kill; an existing file stays until there is something to
// write.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace railbed {

class ResultFile {
 public:
  // What a kept result says of its end: who reads it meets it only if nothing followed.
  static constexpr std::string_view kUnderWay = "in progress, or killed";

  static Result<ResultFile> open(const std::string& path);
  ResultFile(ResultFile&& other) noexcept;
  ResultFile& operator=(ResultFile&&) = delete;
  ~ResultFile();  // takes away an empty file that open() made

  // More is to come.
  Result<void> keep(std::string_view text);
  // The whole; pipes and devices get this alone.
  Result<void> finish(std::string_view text);

 private:
  ResultFile() = default;

  std::string path_;  // without links, so that what they point to is replaced
  bool plain_ = true;
  bool made_ = false;  // by open(), and nothing is in it yet
};

// How a measurement with --save ends: by what ended it early, else by what saving it failed with; where both are there,
// both are reported.
Result<void> end_of(std::optional<Error> ended_by, Result<void> saved);

}  // namespace railbed
