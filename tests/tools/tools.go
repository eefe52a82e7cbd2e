//go:build tools

// SPDX-License-Identifier: Apache-2.0

// Package tools pins the programs of others that benchmarks and tests run beside railbed.
package tools

import (
	_ "github.com/yannh/kubeconform/cmd/kubeconform"
)
