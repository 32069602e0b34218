package run

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/spf13/afero"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	simshell "toolbench/sim/shell"
	"toolbench/toolsys/builtin"
	shelltool "toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/settings"
)

// settings are the profile's, or what the scenario's variables make of the
// default.
func settingsOf(sc *scenario.Scenario) (settings.Settings, error) {
	w := sc.World
	switch {
	case w.Profile != "" && len(w.Settings) > 0:
		return settings.Settings{}, sc.ErrorAt("world.profile", "profile and settings exclude each other", "keep one")
	case w.Profile != "":
		s, err := settings.FindProfile(w.Profile)
		if err != nil {
			return s, sc.ErrorAt("world.profile", err.Error(), "")
		}
		return s, nil
	}
	s, err := settings.FromMap(w.Settings)
	if err != nil {
		return s, sc.ErrorAt("world.settings", err.Error(), "")
	}
	return s, nil
}

func discovery(names []string) message.Block { return pool.Discovery(names) }

// shell is Bash's shell: the in-process one on the world's disk, its sleeps at
// the gate.
func (r *runner) shell() builtin.Shell {
	return func(ctx context.Context, c shelltool.Request) (shelltool.Exit, error) {
		exit, err := r.simulated(fmt.Sprintf("bash/%d", r.runs.Add(1))).Run(ctx, simshell.Command{
			Script: c.Script, Dir: c.Dir, Env: c.Env, Stdout: c.Stdout, Stderr: c.Stderr,
		})
		return shelltool.Exit{Code: exit.Code, Dir: exit.Dir, Env: exit.Env}, err
	}
}

// simulated is the in-process shell; an actor has its own place at the gate.
func (r *runner) simulated(actor string) simshell.Shell {
	return simshell.Shell{
		FS: r.fs, Now: r.gate.Now, User: "dev", Host: "bench",
		Sleep: func(ctx context.Context, d time.Duration) error { return r.gate.Sleep(ctx, "shell/"+actor, d) },
	}
}

// resolve follows the links of a path as far as it exists.
func (r *runner) resolve(p string) string {
	if r.live != nil && r.live.Disk != nil {
		return r.live.Disk.Resolve(p)
	}
	return follow(r.fs, p, 0)
}

const maxLinks = 40

// follow walks a path part by part; what does not exist is taken as it stands.
func follow(links afero.LinkReader, p string, depth int) string {
	done := ""
	parts := strings.Split(strings.Trim(p, "/"), "/")
	for i, part := range parts {
		next := done + "/" + part
		target, err := links.ReadlinkIfPossible(next)
		if err != nil || depth >= maxLinks {
			done = next
			continue
		}
		if !strings.HasPrefix(target, "/") {
			target = done + "/" + target
		}
		rest := strings.Join(parts[i+1:], "/")
		return follow(links, path.Clean(target+"/"+rest), depth+1)
	}
	return done
}

// funnels runs the catalogue's gates for the profiles that are asked about.
func (r *runner) funnels() map[string]check.Funnel {
	out := map[string]check.Funnel{}
	for _, g := range r.sc.Expect.Gates {
		s, err := settings.FindProfile(g.Profile)
		if err != nil {
			continue // the check reports it
		}
		entries := r.sys.Catalogue.Entries()
		gone := r.sys.Catalogue.Gated(s, pool.Conditions{Search: s.ToolSearch.Kind != settings.Off})
		f := check.Funnel{In: len(entries) - len(gone), Out: len(gone), Reasons: map[string]string{}}
		for _, o := range gone {
			f.Reasons[o.Name] = o.Reason
		}
		out[g.Profile] = f
	}
	return out
}
