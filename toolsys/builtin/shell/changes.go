package shell

import (
	"fmt"
	"maps"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

// changes is what the command leaves behind for those after it: where it went
// with cd, and what it exported (L4). Only a command that is read to do either has
// one, and none that may run beside others (B3).
func (d bash) changes(script *shellcmd.Script, exit Exit, c *tool.Context, out *BashOut) tool.Modifier {
	var m tool.Modifier
	if script.Safe {
		return nil
	}
	if script.Changes.Dir && exit.Dir != "" && exit.Dir != c.State.Dir {
		if problem := d.outside(exit.Dir, c); problem != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("the working directory is %s again: %s %s", c.State.Dir, exit.Dir, problem))
		} else {
			out.Dir = exit.Dir
			m = func(s tool.State) tool.State { return s.WithDir(exit.Dir) }
		}
	}
	if len(script.Changes.Vars) > 0 || script.Changes.Options {
		m = m.Then(exported(c.State.Env, exit.Env))
	}
	return m
}

// outside is the reason why a folder cannot become the working directory, or "".
func (d bash) outside(dir string, c *tool.Context) string {
	roots := c.Roots
	if len(roots) == 0 {
		roots = c.State.Roots()
	}
	if !permission.Within(dir, roots) || !permission.Within(d.resolve(dir), d.resolved(roots)) {
		return "is outside the allowed folders"
	}
	if info, err := d.FS.Stat(dir); err != nil || !info.IsDir() {
		return "is no folder"
	}
	return ""
}

func (d bash) resolve(path string) string {
	if d.Resolve == nil || permission.IsUNC(path) {
		return path
	}
	return d.Resolve(path)
}

func (d bash) resolved(paths []string) []string {
	all := make([]string, len(paths))
	for i, p := range paths {
		all[i] = d.resolve(p)
	}
	return all
}

// ownVariables are the shell's: they follow from the state and are no export.
var ownVariables = []string{"PWD", "OLDPWD", "SHLVL", "_"}

// exported carries over what a command added to, changed in or took from its
// environment, and nothing else, so that it composes with other changes.
func exported(before, after map[string]string) tool.Modifier {
	set, unset := map[string]string{}, []string{}
	for name, value := range after {
		if old, had := before[name]; !had || old != value {
			set[name] = value
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			unset = append(unset, name)
		}
	}
	for _, name := range ownVariables {
		delete(set, name)
	}
	if after == nil || len(set)+len(unset) == 0 {
		return nil
	}
	return func(s tool.State) tool.State {
		env := map[string]string{}
		maps.Copy(env, s.Env)
		for _, name := range unset {
			delete(env, name)
		}
		maps.Copy(env, set)
		return s.WithEnv(env)
	}
}
