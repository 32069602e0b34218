package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"toolbench/property/campaign"
)

// mostDeaths is how many processes are spent on making a crash small.
const mostDeaths = 400

// smallestCrash makes a case small that kills the process which plays it: each try is
// one. What hangs is left as it is: each try would take its time.
func (a *app) smallestCrash(ctx context.Context, f fuzzFlags, c campaign.Drawn) campaign.Drawn {
	dir, err := os.MkdirTemp("", "toolbench-fuzz")
	if err != nil {
		return c
	}
	defer os.RemoveAll(dir) // what cannot be removed there is the system's to remove
	left := mostDeaths
	return c.Shrink(func(smaller campaign.Drawn) bool {
		left--
		return left >= 0 && ctx.Err() == nil && a.crashes(ctx, f, smaller, filepath.Join(dir, "case.yaml"))
	})
}

// crashes plays a case in a process of its own and says whether that panicked.
func (a *app) crashes(ctx context.Context, f fuzzFlags, c campaign.Drawn, file string) bool {
	data, err := campaign.Save("A try.", campaign.Engine(f.engine), c).YAML()
	if err != nil || os.WriteFile(file, data, 0o600) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.Self, "fuzz", "--replay", file)
	cmd.Env, cmd.Dir = a.Env, a.Dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if cmd.Run() == nil {
		return false
	}
	for _, sign := range []string{"panic:", "fatal error:", "internal error:"} {
		if bytes.Contains(errs.Bytes(), []byte(sign)) {
			return true
		}
	}
	return false
}
