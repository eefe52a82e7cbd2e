// SPDX-License-Identifier: Apache-2.0
// One request in flight: libcurl's handle, and the data received so far.
//
// Threading: prepare() before it is passed to the thread that drives it, finish() and curl's callbacks in that thread,
// whole(), wait_begun() and next_bytes() in the requesting thread.
// Failure: as Transport says.
// Source: curl_easy_setopt(3).
#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <curl/curl.h>

#include "kube/credentials.h"
#include "kube/curl_transport.h"
#include "kube/transport.h"

namespace railbed::kube {

class Transfer {
 public:
  enum class Kind : uint8_t { kWhole, kStream };

  Transfer(const Request& request, Kind kind, const CurlSettings& settings);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* handle() { return easy_; }
  Result<void> prepare(const ClusterAccess& access, const Credentials::Now& credentials, bool fresh_connection);
  void finish(CURLcode result);

  Answer<Response> whole(std::stop_token stop);
  Answer<void> wait_begun(std::stop_token stop);
  Answer<std::string> next_bytes(std::stop_token stop);

 private:
  template <typename T>
  void set(CURLoption option, T value);
  void set_blob(CURLoption option, const std::string& data);
  void set_tls(const ClusterAccess& access, const Credentials::Now& credentials);
  void set_times();
  Result<void> set_headers(const Credentials::Now& credentials);
  size_t take(std::string_view bytes);
  bool note_header(std::string_view line);
  bool is_good() const { return status_ / 100 == 2; }
  size_t most_bytes() const;
  ApiError error_of(CURLcode result, int status, const std::string& body) const;
  ApiError too_large() const;
  ApiError stopped() const;
  ApiError late() const;

  static size_t on_header(char* data, size_t size, size_t count, void* self);
  static size_t on_bytes(char* data, size_t size, size_t count, void* self);
  static int on_socket(void* self, curl_socket_t socket, curlsocktype purpose);

  const Request request_;
  const Kind kind_;
  const CurlSettings settings_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  CURLcode set_result_ = CURLE_OK;
  char message_[CURL_ERROR_SIZE] = {};

  std::mutex mutex_;
  std::condition_variable_any changed_;
  int status_ = 0;  // once the headers are there
  std::string bytes_;
  size_t header_bytes_ = 0;
  enum class Overflow : uint8_t { kNone, kHeaders, kBody } overflow_ = Overflow::kNone;
  bool finished_ = false;
  CURLcode result_ = CURLE_OK;
  std::optional<milliseconds> retry_after_;
};

}  // namespace railbed::kube
