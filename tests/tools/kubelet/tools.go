//go:build tools

// SPDX-License-Identifier: Apache-2.0

// Package tools pins the kubelet of the cluster tests.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kubelet"
)
