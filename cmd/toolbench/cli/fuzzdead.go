package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"toolbench/property/campaign"
)

// mostDeaths is how many processes are spent on making a case small that kills the one
// which plays it, mostHangs how many of them may hang, and hangTry how long one may take
// until it counts as hung: what is well takes a small part of that.
const (
	mostDeaths = 400
	mostHangs  = 24
	hangTry    = 5 * time.Second
)

// deadly makes a case small that crashes or hangs the process which plays it: each try
// is one.
type deadly struct {
	a     *app
	f     fuzzFlags
	dir   string
	tries int
	hangs int
}

func (a *app) smallestDeath(ctx context.Context, f fuzzFlags, c campaign.Drawn, how string) campaign.Drawn {
	dir, err := os.MkdirTemp("", "toolbench-fuzz")
	if err != nil {
		return c
	}
	defer os.RemoveAll(dir) // what cannot be removed there is the system's to remove
	d := &deadly{a: a, f: f, dir: dir, tries: mostDeaths, hangs: mostHangs}
	if how != "hang" {
		return c.Shrink(func(smaller campaign.Drawn) bool { return d.dies(ctx, smaller, d.crashes) })
	}
	limit := min(hangTry, f.patience)
	small := c.Shrink(func(smaller campaign.Drawn) bool {
		return d.hangs > 0 && d.dies(ctx, smaller, func(ctx context.Context, c campaign.Drawn) bool { return d.hung(ctx, c, limit) })
	})
	if !d.hung(ctx, small, 2*limit) { // it was only slow: then nothing is known of it
		return c
	}
	return small
}

// dies tries one case, as long as there are tries left.
func (d *deadly) dies(ctx context.Context, c campaign.Drawn, how func(context.Context, campaign.Drawn) bool) bool {
	d.tries--
	return d.tries >= 0 && ctx.Err() == nil && how(ctx, c)
}

// hung plays a case in a process of its own and says whether that takes longer than
// it may.
func (d *deadly) hung(ctx context.Context, c campaign.Drawn, limit time.Duration) bool {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, _ = d.play(timed, c) // how it ended says nothing about how long it took
	hung := timed.Err() != nil && ctx.Err() == nil
	if hung {
		d.hangs--
	}
	return hung
}

// crashes plays a case in a process of its own and says whether that panicked.
func (d *deadly) crashes(ctx context.Context, c campaign.Drawn) bool {
	timed, cancel := context.WithTimeout(ctx, d.f.patience)
	defer cancel()
	said, err := d.play(timed, c)
	if err == nil {
		return false
	}
	for _, sign := range []string{"panic:", "fatal error:", "internal error:"} {
		if bytes.Contains(said, []byte(sign)) {
			return true
		}
	}
	return false
}

// play plays a case in a process and gives what that said.
func (d *deadly) play(ctx context.Context, c campaign.Drawn) (said []byte, err error) {
	file := filepath.Join(d.dir, "case.yaml")
	data, err := campaign.Save("A try.", campaign.Engine(d.f.engine), c).YAML()
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, d.a.Self, "fuzz", "--replay", file)
	cmd.Env, cmd.Dir, cmd.WaitDelay = d.a.Env, d.a.Dir, time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err = cmd.Run()
	return errs.Bytes(), err
}
