package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Program is an executable that answers as a worker.
type Program struct {
	// File is the executable, First what stands before a worker's arguments.
	File  string
	First []string
}

// patience is how long a worker may take beyond its budget.
const patience = 30 * time.Second

// List asks which peers the program has.
func (p Program) List(ctx context.Context) (all []Described, err error) {
	return all, p.ask(ctx, &all, "list")
}

// ask runs the program and reads its answer. The error holds the first line the
// program died with.
func (p Program) ask(ctx context.Context, into any, args ...string) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	cmd := exec.CommandContext(ctx, p.File, append(p.First[:len(p.First):len(p.First)], args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("no answer within %s", patience)
		}
		return fmt.Errorf("%w: %s", err, decisiveLine(stderr.String()))
	}
	if err := json.Unmarshal(stdout.Bytes(), into); err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	return nil
}

// decisiveLine is the line of a program's last words that says why.
func decisiveLine(words string) string {
	lines := strings.Split(strings.TrimSpace(words), "\n")
	for _, l := range lines {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") {
			return l
		}
	}
	return lines[0]
}
