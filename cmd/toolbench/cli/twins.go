package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// twins gives each flag that the command line leaves open its value from the
// environment. A bad value is an error that names the variable.
func (a *app) twins(flags *pflag.FlagSet) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || len(f.Annotations[ownValues]) > 0 {
			return
		}
		variable := twin(f.Name)
		value, ok := a.lookup(variable)
		if !ok || value == "" {
			return
		}
		a.borrowed[f.Name] = true
		for _, part := range parts(f, value) {
			if err := flags.Set(f.Name, part); err != nil {
				wrong = append(wrong, usage("%s=%q is no value for --%s: %s", variable, value, f.Name, cause(err)))
				return
			}
		}
	})
	return errors.Join(wrong...)
}

// ownValues marks a flag that takes other values than its namesake of run, which
// owns the variable.
const ownValues = "own-values"

// twin is the variable that stands for a flag.
func twin(flag string) string {
	return "TOOLBENCH_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// parts are the values of a variable: several for a flag that can be repeated.
func parts(f *pflag.Flag, value string) []string {
	if _, repeatable := f.Value.(pflag.SliceValue); repeatable {
		return strings.Split(value, ",")
	}
	return []string{value}
}

// cause is the parser's reason without its talk of arguments and functions.
func cause(err error) error {
	var number *strconv.NumError
	if errors.As(err, &number) {
		return number.Err
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalid.Unwrap()
	}
	return err
}
