package check

import "toolbench/sim/secret"

// Redact keeps secrets that stand in a recording or in the world out of what reports
// print of it (O5): a failure quotes both.
func (out *Result) Redact() {
	if len(out.Failures)+len(out.Notes) == 0 {
		return
	}
	finder := secret.New()
	for i := range out.Failures {
		f := &out.Failures[i]
		f.Expected, f.Found = finder.Text(f.Expected, nil), finder.Text(f.Found, nil)
	}
	for i, n := range out.Notes {
		out.Notes[i] = finder.Text(n, nil)
	}
}
