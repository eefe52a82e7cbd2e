//go:build tools

// SPDX-License-Identifier: Apache-2.0

// Package tools pins the oldest API server that railbed promises to work with, and its kubectl. The requirements are those of
// k8s.io/kubernetes itself, whose staging modules are replaced by their releases.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
