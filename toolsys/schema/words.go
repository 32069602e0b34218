package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	maxShown  = 100 // code points of the model's own text that a message repeats
	maxValues = 30  // values of an enum that a message lists
)

// value words what is wrong with the value at one place, a keyword a line.
func value(at path, k jsonschema.ErrorKind) (keyword, text string) {
	it := at.subject()
	switch k := k.(type) {
	case *kind.Type:
		return "type", typeText(at, k.Want, k.Got)
	case *kind.Enum:
		return "enum", fmt.Sprintf("%s must be one of %s but is %s", it, listed(k.Want), shown(k.Got))
	case *kind.Const:
		return "const", fmt.Sprintf("%s must be %s but is %s", it, shown(k.Want), shown(k.Got))
	case *kind.Minimum:
		return "minimum", bound(it, "at least", k.Want, k.Got)
	case *kind.Maximum:
		return "maximum", bound(it, "at most", k.Want, k.Got)
	case *kind.ExclusiveMinimum:
		return "exclusiveMinimum", bound(it, "more than", k.Want, k.Got)
	case *kind.ExclusiveMaximum:
		return "exclusiveMaximum", bound(it, "less than", k.Want, k.Got)
	case *kind.MultipleOf:
		return "multipleOf", bound(it, "a multiple of", k.Want, k.Got)
	case *kind.MinLength:
		return "minLength", size(it, "at least", k.Want, "characters", k.Got)
	case *kind.MaxLength:
		return "maxLength", size(it, "at most", k.Want, "characters", k.Got)
	case *kind.MinItems:
		return "minItems", size(it, "at least", k.Want, "items", k.Got)
	case *kind.MaxItems:
		return "maxItems", size(it, "at most", k.Want, "items", k.Got)
	case *kind.MinProperties:
		return "minProperties", size(it, "at least", k.Want, "members", k.Got)
	case *kind.MaxProperties:
		return "maxProperties", size(it, "at most", k.Want, "members", k.Got)
	case *kind.Pattern:
		return "pattern", fmt.Sprintf("%s must match the pattern %s but is %s", it, k.Want, quoted(k.Got))
	case *kind.Format:
		return "format", fmt.Sprintf("%s is not a valid %s: %s", it, k.Want, shown(k.Got))
	case *kind.UniqueItems:
		return "uniqueItems", fmt.Sprintf("%s must not repeat an item, but items %d and %d are equal", it, k.Duplicates[0], k.Duplicates[1])
	case *kind.DependentRequired:
		return "dependentRequired", needs(it, k.Prop, k.Missing)
	case *kind.Dependency:
		return "dependencies", needs(it, k.Prop, k.Missing)
	case *kind.Not:
		return "not", it + " has a form that is not allowed"
	case *kind.Contains:
		return "contains", it + " lacks an item that it must contain"
	}
	return generic(at, k)
}

func bound(it, relation string, want, got *big.Rat) string {
	return fmt.Sprintf("%s must be %s %s but is %s", it, relation, decimal(want), decimal(got))
}

func size(it, relation string, want int, unit string, got int) string {
	if want == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return fmt.Sprintf("%s must have %s %d %s but has %d", it, relation, want, unit, got)
}

func needs(it, given string, missing []string) string {
	names := make([]string, len(missing))
	for i, name := range missing {
		names[i] = quoted(name)
	}
	return fmt.Sprintf("%s needs %s when %s is given", it, strings.Join(names, ", "), quoted(given))
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return shorten(r.Num().String())
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func listed(values []any) string {
	var words []string
	for i, v := range values {
		if i == maxValues {
			words = append(words, fmt.Sprintf("%d more", len(values)-maxValues))
			break
		}
		words = append(words, shown(v))
	}
	return strings.Join(words, ", ")
}

// shown is a JSON value as a message may repeat it.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return quoted(s)
	}
	bytes, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return shorten(string(bytes))
}

func quoted(s string) string { return strconv.Quote(shorten(s)) }

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	if cut := []rune(s); len(cut) > maxShown {
		return string(cut[:maxShown]) + "..."
	}
	return s
}
