package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// wording turns the validator's tree of errors into flat problems about doc.
type wording struct{ doc any }

func (w wording) of(e *jsonschema.ValidationError) Problems {
	at := locate(w.doc, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		return w.all(e.Causes)
	case *kind.AnyOf:
		return w.closest(at, "anyOf", e.Causes)
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return one(at, "oneOf", "%s matches more than one of the allowed forms (%d and %d)",
				at.subject(), k.Subschemas[0]+1, k.Subschemas[1]+1)
		}
		return w.closest(at, "oneOf", e.Causes)
	case *kind.Required:
		return each(k.Missing, at, "required", "The required parameter %s is missing")
	case *kind.AdditionalProperties:
		return each(k.Properties, at, "additionalProperties", "An unexpected parameter %s was provided")
	case *kind.FalseSchema:
		return one(at, "additionalProperties", "An unexpected parameter %s was provided", at.quoted())
	case *kind.PropertyNames:
		// The library's location is not safe to read here: it shares memory with the walk that goes on after it.
		return one(nil, "propertyNames", "The parameter name %s is not allowed", quoted(k.Property))
	case nil:
		return nil
	}
	keyword, text := value(at, e.ErrorKind)
	return one(at, keyword, "%s", text)
}

func one(at path, keyword, format string, args ...any) Problems {
	return Problems{newProblem(at, keyword, fmt.Sprintf(format, args...))}
}

// each makes a problem for every named member of the object at a place.
func each(names []string, at path, keyword, format string) Problems {
	var ps Problems
	for _, name := range names {
		member := at.member(name)
		ps = append(ps, newProblem(member, keyword, fmt.Sprintf(format, member.quoted())))
	}
	return ps
}

func (w wording) all(causes []*jsonschema.ValidationError) Problems {
	var ps Problems
	for _, c := range causes {
		ps = append(ps, w.of(c)...)
	}
	return ps
}

// closest answers for alternatives none of which matched. If all of them only wanted another type, the types are
// merged into one problem; else the model gets that no form matched, and what keeps it from the nearest.
func (w wording) closest(at path, keyword string, causes []*jsonschema.ValidationError) Problems {
	if want, got := wantedTypes(at, w.doc, causes); want != nil {
		return one(at, "type", "%s", typeText(at, want, got))
	}
	ps := one(at, keyword, "%s matches none of the %d allowed forms; what the closest form lacks follows",
		at.subject(), len(causes))
	branches := make([]Problems, len(causes))
	for i, c := range causes {
		branches[i] = w.of(c).arranged()
	}
	if len(branches) == 0 {
		return ps
	}
	return append(ps, slices.MinFunc(branches, func(a, b Problems) int { return distance(at, a) - distance(at, b) })...)
}

// distance ranks how far the input at a place is from a form: being of another kind, as its own wrong type or a wrong
// tag in it shows, weighs more than what is wrong further within, and that by its kind more than small errors.
func distance(at path, ps Problems) int {
	total := len(ps)
	for _, p := range ps {
		within := len(p.at) - len(at)
		switch p.Keyword {
		case "const", "enum":
			within--
			fallthrough
		case "type":
			if total += 10; within == 0 {
				total += 100
			}
		}
	}
	return total
}

// wantedTypes gives the types asked for if every alternative failed by its type and at this very place.
func wantedTypes(at path, doc any, causes []*jsonschema.ValidationError) (want []string, got string) {
	for _, c := range causes {
		k, ok := c.ErrorKind.(*kind.Type)
		if !ok || locate(doc, c.InstanceLocation).compare(at) != 0 {
			return nil, ""
		}
		got = k.Got
		for _, t := range k.Want {
			if !slices.Contains(want, t) {
				want = append(want, t)
			}
		}
	}
	return want, got
}

func typeText(at path, want []string, got string) string {
	subject := at.subject()
	if len(at) == 0 {
		subject = "The input's"
	}
	return fmt.Sprintf(`%s type is expected as "%s" but provided as "%s"`, subject, strings.Join(want, `" or "`), got)
}

// generic words a kind of error that has no sentence of its own.
func generic(at path, k jsonschema.ErrorKind) (keyword, text string) {
	keyword = "schema"
	if p := k.KeywordPath(); len(p) > 0 {
		keyword = p[0]
	}
	english := message.NewPrinter(language.English)
	return keyword, fmt.Sprintf("%s is not valid: %s", at.subject(), shorten(k.LocalizedString(english)))
}

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
