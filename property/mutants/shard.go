package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// shard is a part of the faults that were picked, every Of-th of them from the Part-th on, and what
// noticed each. The zero value is all of them.
type shard struct {
	Part int `json:"part"`
	Of   int `json:"of"`
	// List is what all faults that were picked come to, Faults how many they are.
	List    string    `json:"list"`
	Faults  int       `json:"faults"`
	Notices []notices `json:"notices"`
	Millis  int64     `json:"took_ms"`
}

// Set reads "I/N".
func (s *shard) Set(text string) error {
	n, err := fmt.Sscanf(text, "%d/%d", &s.Part, &s.Of)
	if err != nil || n != 2 || s.Part < 1 || s.Part > s.Of || text != s.String() {
		return errors.New("write I/N with I from 1 to N, as 1/4")
	}
	return nil
}

func (s *shard) String() string { return fmt.Sprintf("%d/%d", s.Part, s.Of) }

// deal gives the shard's faults, and notes what they are a part of.
func (s *shard) deal(picked []fault) (mine []fault) {
	sum := sha256.New()
	for i, f := range picked {
		fmt.Fprintf(sum, "%q %q %q %q %q\n", f.Name, f.pkg, f.In, f.Old, f.New)
		if s.Of == 0 || i%s.Of == s.Part-1 {
			mine = append(mine, f)
		}
	}
	s.List, s.Faults = hex.EncodeToString(sum.Sum(nil)[:8]), len(picked)
	return mine
}

// write keeps what noticed the shard's faults.
func (s *shard) write(file string) error {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// merge prints what one run would have printed of all that the shards in some files tried; it took as
// long as the longest of them.
func merge(files []string, asJSON bool, out, errs io.Writer) error {
	var parts []shard
	for _, file := range files {
		var s shard
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &s)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; write it with -shard I/N -out FILE", file, err)
		}
		parts = append(parts, s)
	}
	whole, err := joined(parts, files)
	if err != nil {
		return err
	}
	for _, n := range whole.Notices {
		if err := n.print(out, asJSON); err != nil {
			return err
		}
	}
	return whole.conclude(errs)
}

// joined puts the faults of shards in the order of the list. A shard that is there twice, as one that
// was run again is, counts once; none may be missing.
func joined(parts []shard, names []string) (shard, error) {
	of, whole := map[int]shard{}, shard{}
	for i, p := range parts {
		first := parts[0]
		switch {
		case p.Of < 1 || p.Part < 1 || p.Part > p.Of:
			return whole, fmt.Errorf("%s: it is no shard; write it with -shard I/N -out FILE", names[i])
		case p.Of != first.Of || p.List != first.List || p.Faults != first.Faults:
			return whole, fmt.Errorf("%s and %s are not shards of one list: give all the same -only and N, at the same commit", names[0], names[i])
		case len(p.Notices) != (p.Faults+p.Of-p.Part)/p.Of:
			return whole, fmt.Errorf("%s: it holds %d of its faults; run it again with -shard %s", names[i], len(p.Notices), &p)
		}
		of[p.Part] = p
		whole.Of, whole.Faults, whole.Millis = p.Of, p.Faults, max(whole.Millis, p.Millis)
	}
	for n := 1; n <= whole.Of; n++ {
		if _, there := of[n]; !there {
			return whole, fmt.Errorf("the shard %d/%d is missing; run it with -shard %[1]d/%d", n, whole.Of)
		}
	}
	for i := range whole.Faults {
		whole.Notices = append(whole.Notices, of[1+i%whole.Of].Notices[i/whole.Of])
	}
	return whole, nil
}

// conclude sums up what noticed the faults, each counted for the first checker that did.
func (s shard) conclude(w io.Writer) error {
	noticed, by := 0, map[string]int{}
	for _, n := range s.Notices {
		if n.noticed() {
			noticed++
			by[n.By[0]]++
		}
	}
	fmt.Fprintf(w, "%d of %d faults noticed, %s: %d by the suite, %d of the others by the fuzzer, %d of the rest by tests\n",
		noticed, len(s.Notices), (time.Duration(s.Millis) * time.Millisecond).Round(time.Second), by["the suite"], by["the fuzzer"], by["tests"])
	if noticed < len(s.Notices) {
		return errUnnoticed
	}
	return nil
}
