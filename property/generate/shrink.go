package generate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How many smaller cases are tried at most. A system case takes longer to run.
const (
	schedulerTries = 5_000
	systemTries    = 1_500
)

// Clone copies a case: the copy outlives the next case of its maker.
func (d Case) Clone() Case { return copied(reflect.ValueOf(d)).Interface().(Case) }

// copied is a value with copies of all that it points to.
func copied(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(copied(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			c.Index(i).Set(copied(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(copied(v.Field(i)))
			}
		}
	}
	return c
}

// Shrink makes a failing case small: it takes things away, as long as the case still
// fails, until nothing more can be taken. It is greedy and deterministic. The function
// fails is asked about each smaller case; the case itself must fail, and is not changed.
func (d Case) Shrink(fails func(Case) bool) Case {
	s := &shrinker{best: d.Clone(), fails: fails, left: systemTries}
	if d.Scheduler != nil {
		s.left = schedulerTries
	}
	for s.pass() {
	}
	s.try(Case.rename)
	return s.best
}

// rename counts the calls that are left. Those of a system case keep their names: what they do goes by their numbers.
func (d Case) rename() {
	if d.Scheduler != nil {
		for n := range d.Scheduler.Calls() {
			d.Scheduler.Call(n).ID = "c" + strconv.Itoa(n+1)
		}
	}
}

// shrinker holds the smallest case so far.
type shrinker struct {
	best  Case
	fails func(Case) bool
	left  int
}

// pass tries every reduction, one after the other, and reports whether any was kept.
func (s *shrinker) pass() (smaller bool) {
	for n := 0; s.left > 0; {
		there := false
		kept := s.try(func(d Case) {
			r := changesOf(d)
			all := slices.Concat(r.lists, r.values, r.times)
			if there = n < len(all); there {
				all[n].do()
			}
		})
		switch {
		case !there:
			return smaller
		case kept:
			smaller = true // the next reduction has this one's place
		default:
			n++
		}
	}
	return smaller
}

// try changes a copy of the best case and keeps it if it still makes sense and fails.
func (s *shrinker) try(change func(Case)) (kept bool) {
	smaller := s.best.Clone()
	change(smaller)
	if reflect.DeepEqual(smaller, s.best) || smaller.Check() != nil {
		return false
	}
	s.left--
	if kept = s.fails(smaller); kept {
		s.best = smaller
	}
	return kept
}

// reductions are the ways to make a case smaller in one place: members are taken out of a list, a value is set to its
// simplest, a time is made rounder or shorter. Growths are the ways to change it that make it no smaller.
type reductions struct{ lists, values, times, growths []change }

// change is one way to change a case in one place.
type change struct {
	Changed
	do func()
}

func changesOf(d Case) (r reductions) {
	r.add(reflect.ValueOf(&d).Elem(), "", "")
	return r
}

// add adds the changes of a value and of all in it. The tag of its field decides: the simplest value is that of the
// key simple, else nothing, where its YAML may leave it out. What has the tag `shrink:"-"` is left as it is.
func (r *reductions) add(v reflect.Value, tag reflect.StructTag, path string) {
	if to, ok := tag.Lookup("simple"); ok {
		r.values = append(r.values, change{Changed{path, -1, fmt.Sprintf("%v → %s", v, to)}, func() { setText(v, to) }})
	} else if strings.HasSuffix(tag.Get("yaml"), ",omitempty") && v.Kind() != reflect.Slice && !v.IsZero() {
		r.values = append(r.values, change{Changed{path, -1, fmt.Sprintf("%v → nothing", reflect.Indirect(v))}, v.SetZero})
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.add(v.Elem(), "", path)
		}
	case reflect.Slice:
		r.addList(v, path)
		for i := range v.Len() {
			r.add(v.Index(i), "", below(path, strconv.Itoa(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("shrink") != "-" {
				name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				r.add(v.Field(i), f.Tag, below(path, name))
			}
		}
	case reflect.Bool:
		r.growths = append(r.growths, change{Changed{path, -1, fmt.Sprintf("%t → %t", v.Bool(), !v.Bool())}, func() { v.SetBool(!v.Bool()) }})
	case reflect.Uint64:
		for n := range uint64(8) {
			r.growths = append(r.growths, change{Changed{path, -1, fmt.Sprintf("%d → %d", v.Uint(), v.Uint()+n+1)}, func() { v.SetUint(v.Uint() + n + 1) }})
		}
	case reflect.Int64:
		if at, ok := v.Addr().Interface().(*time.Duration); ok {
			r.addTime(at, path)
		}
	}
}

// below is a place within another.
func below(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// setText sets a value to one that is written as a text.
func setText(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Int:
		n, _ := strconv.Atoi(text) // tags are ours
		v.SetInt(int64(n))
	default:
		v.SetString(text)
	}
}

// addList takes members out: all, then half of them, down to single ones.
func (r *reductions) addList(v reflect.Value, path string) {
	n := v.Len()
	for size := n; size > 0; size /= 2 {
		for at := n - size; at >= 0; at -= size {
			text := fmt.Sprintf("without %d", at)
			if size > 1 {
				text += fmt.Sprintf(" to %d", at+size-1)
			}
			r.lists = append(r.lists, change{Changed{path, at, text}, func() { v.Set(reflect.AppendSlice(v.Slice(0, at), v.Slice(at+size, n))) }})
		}
	}
}

// addTime makes a time rounder, or half as long; and longer.
func (r *reductions) addTime(at *time.Duration, path string) {
	set := func(to time.Duration) change {
		return change{Changed{path, -1, fmt.Sprintf("%s → %s", *at, to)}, func() { *at = to }}
	}
	shorter := []time.Duration{(*at / 2).Truncate(time.Millisecond)}
	for _, unit := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		shorter = append(shorter, max(unit, at.Round(unit)))
	}
	for _, to := range slices.Backward(shorter) {
		if to > 0 && to < *at {
			r.times = append(r.times, set(to))
		}
	}
	if *at > 0 {
		r.growths = append(r.growths, set(*at+time.Millisecond), set(2**at))
	}
}

// Variation is a case that differs from another one.
type Variation struct {
	Case Case
	// Changes are what was changed, one after the other.
	Changes []Changed
}

// Changed is a change of a case in one place.
type Changed struct {
	// Path leads to the place by the names of a case's file; From is the first member that
	// was taken out of a list there, -1 where none was.
	Path string
	From int
	// To is the change in words.
	To string
}

// String is the change in a line.
func (c Changed) String() string { return c.Path + ": " + c.To }

// Variations are the cases that differ in one place.
func (d Case) Variations() (all []Variation) {
	for n := range changesOf(d).all() {
		var v Variation
		if v.Case = d.Clone(); v.change(func([]change) int { return n }) {
			all = append(all, v)
		}
	}
	return all
}

// Vary changes the case in some places more, which r chooses of those that may is true
// for; false if that makes no case.
func (d Case) Vary(r *rand.Rand, places int, may func(Changed) bool) (Variation, bool) {
	v := Variation{Case: d.Clone()}
	for range places {
		there := v.change(func(all []change) int {
			var some []int
			for i, c := range all {
				if may(c.Changed) {
					some = append(some, i)
				}
			}
			if len(some) == 0 {
				return -1
			}
			return some[r.IntN(len(some))]
		})
		if !there {
			return Variation{}, false
		}
	}
	return v, true
}

// change makes the change that choose finds among all; false if that makes no case.
func (v *Variation) change(choose func([]change) int) bool {
	all := changesOf(v.Case).all()
	n := choose(all)
	if n < 0 {
		return false
	}
	v.Changes = append(v.Changes, all[n].Changed)
	all[n].do()
	return v.Case.Check() == nil
}

func (r reductions) all() []change { return slices.Concat(r.lists, r.values, r.times, r.growths) }
