package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completeNames offers the embedded scenarios with what they are about; the shell
// adds files.
func (a *app) completeNames(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, e := range a.suite() {
		if strings.HasPrefix(e.Name, typed) && !slices.Contains(args, e.Name) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.About))
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeFlags offers the values of the flags that have a list of them.
func (a *app) completeFlags(cmd *cobra.Command) {
	offers := map[string]func() []cobra.Completion{
		"policy": func() []cobra.Completion { return a.bench.Policies },
		"format": a.formatsFor(cmd.Name()),
		"tag":    a.tagNames,
	}
	for flag, offer := range offers {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return offer(), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(err) // a flag registered twice is our mistake
		}
	}
}

func (a *app) formatsFor(command string) func() []cobra.Completion {
	if command == "list" {
		return func() []cobra.Completion { return []cobra.Completion{"table", "json"} }
	}
	return formatNames
}

func (a *app) tagNames() []cobra.Completion {
	var tags []string
	for _, e := range a.suite() {
		tags = append(tags, e.Tags...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}
