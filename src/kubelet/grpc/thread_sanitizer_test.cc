// SPDX-License-Identifier: Apache-2.0
// Options of ThreadSanitizer for this program (its runtime asks for these two functions; other builds ignore them).
//
// Debian's gRPC and protobuf are not instrumented, so the locks with which gRPC hands a call from thread to thread are
// not seen. A report counts as theirs when one of its frames is gRPC's or generated code. That hides races of handlers
// with each other, too, which is why they have no logic: src/kubelet decides without gRPC, and is tested without.
// Names need a symbolizer that knows the compiler's debug information (package llvm-19); without it nothing matches.

extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1 external_symbolizer_path=/usr/lib/llvm-19/bin/llvm-symbolizer";
}

extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:^grpc::\n"
         "race:^void grpc::\n"
         "race:^grpc_core::\n"
         "race:^google::protobuf::\n"
         "race:^v1beta1::\n"
         "race:^v1::\n"
         "thread:^grpc_core::Thread::Thread\n";
}
