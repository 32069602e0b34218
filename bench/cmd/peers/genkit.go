package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toolbench/bench/measure"
)

// buildGenkit builds the worker of genkit's own module. Remove deletes it.
func buildGenkit(ctx context.Context, folder string) (worker measure.Program, remove func(), err error) {
	remove = func() {}
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err != nil {
		return worker, remove, fmt.Errorf("%w; run the command in bench/, or say with -genkit where the module is", err)
	}
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return worker, remove, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a leftover in the temporary folder harms nobody
	worker.File = filepath.Join(dir, "genkit")
	build := exec.CommandContext(ctx, "go", "build", "-o", worker.File, ".")
	build.Dir = folder
	var words bytes.Buffer
	build.Stdout, build.Stderr = &words, &words
	if err := build.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(words.String()), "\n")
		return worker, remove, fmt.Errorf("it does not build: %w: %s", err, first)
	}
	return worker, remove, nil
}
