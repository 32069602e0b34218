package fuzz

import (
	"github.com/aymanbagabas/go-udiff"

	"toolbench/property/des"
)

// Differ says how the logs of the two engines differ; "" when they do not.
func Diff(model, whole *des.Log) string {
	want, got := model.String(), whole.String()
	if want == got {
		return ""
	}
	return udiff.Unified("model", "system", want, got)
}
