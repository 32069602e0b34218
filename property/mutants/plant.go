package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// site is where faults are planted: the repository's root and a folder for what is
// built.
type site struct {
	root, dir string
	// cases is how many cases the fuzzer makes, patience how long each judge may take.
	cases    int
	patience time.Duration
}

// planting is one fault laid over the build.
type planting struct {
	mutant
	overlay string
	program string
}

// plant writes the overlay and builds the program with the fault in it. A fault that
// does not build proves nothing and is an error.
func (s site) plant(ctx context.Context, m mutant) (planting, error) {
	source, text, err := m.planted(s.root)
	if err != nil {
		return planting{}, err
	}
	target, err := filepath.Abs(source)
	if err != nil {
		return planting{}, err
	}
	p := planting{mutant: m, overlay: filepath.Join(s.dir, "overlay.json"), program: filepath.Join(s.dir, "toolbench")}
	file := filepath.Join(s.dir, "mutant.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {target: file}})
	if err != nil {
		return p, err
	}
	for name, data := range map[string]string{file: text, p.overlay: string(overlay)} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			return p, err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", p.overlay, "-o", p.program, "./cmd/toolbench")
	cmd.Dir = s.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("%s does not build: %w\n%s", m.name, err, out)
	}
	return p, nil
}

// root is the folder of the module that the command is run in.
func root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "toolbench").Output()
	if err != nil {
		return "", fmt.Errorf("run this within the repository: %w", err)
	}
	return string(out[:len(out)-1]), nil
}
