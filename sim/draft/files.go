package draft

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// largestApart is how large a file may be that stands in the scenario itself, in bytes.
const largestApart = 16 << 10

// plant rebuilds the files that the session saw, and writes those that an archive can hold; the others come into the
// scenario. Secrets are blanked, and a file whose name looks like one is left out.
func (s *builder) plant() error {
	t := rebuildTree(s.calls(), s.conversation.dir)
	for i := range t.Files {
		t.Files[i].Text = s.blank(t.Files[i].Text)
	}
	archive, apart := t.Split()
	archive = s.kept(archive)
	for _, f := range s.kept(apart) {
		if len(f.Text) <= largestApart && utf8.ValidString(f.Text) {
			s.apart = append(s.apart, f)
		} else {
			s.note("%s is left out of the tree: it looks like an archive itself", f.Path)
		}
	}
	if len(archive)+len(s.apart) == 0 {
		return nil
	}
	s.cwd = t.Dir
	s.remarkTree(t, append(append([]treeFile{}, archive...), s.apart...))
	if len(archive) == 0 {
		return nil
	}
	s.out.Tree = "trees/" + s.out.Name + ".txtar"
	file := filepath.Join(s.dir, filepath.FromSlash(s.out.Tree))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, treeArchive(s.legend(t, archive), archive), 0o644)
}

// calls are those of all turns, in their order.
func (s *builder) calls() []treeCall {
	var all []treeCall
	for i, turn := range s.Turns {
		if i+1 == s.cut {
			s.note("the files are those of the first %d turns, as far as results are kept", i)
			return all
		}
		for _, c := range turn.Calls {
			k := treeCall{Tool: c.Name, Input: c.Input}
			if r := turn.Result(c.ID); r != nil && !c.Repeated {
				k.Result, k.Failed, k.Answered = r.Text, r.IsError, true
			}
			all = append(all, k)
		}
	}
	return all
}

func (s *builder) kept(files []treeFile) []treeFile {
	return slices.DeleteFunc(files, func(f treeFile) bool { return s.blank(f.Path) != f.Path })
}

// legend is the comment on top of the archive: what nobody saw.
func (s *builder) legend(t tree, files []treeFile) []string {
	lines := []string{
		fmt.Sprintf("The files that the session of %s saw, as they stood at its start.", s.source),
		"What was not seen is empty, so that line numbers keep their meaning.",
	}
	for _, f := range files {
		if about := f.About(); about != "" {
			lines = append(lines, f.Path+": "+about)
		}
	}
	for _, p := range t.Made {
		if s.blank(p) == p {
			lines = append(lines, p+": not here, the session made it")
		}
	}
	return lines
}

// remarkTree is what there is of the tree, and what there is not.
func (s *builder) remarkTree(t tree, files []treeFile) {
	seen := map[visibility]int{}
	for _, f := range files {
		seen[f.Seen]++
	}
	s.out.Files = len(files)
	text := fmt.Sprintf("the tree has %d files that the session saw: %d whole", len(files), seen[seenAll])
	if n := seen[seenPart]; n > 0 {
		text += fmt.Sprintf(", %d in part", n)
	}
	if n := seen[seenName]; n > 0 {
		text += fmt.Sprintf(", %d by name only", n)
	}
	if seen[seenPart]+seen[seenName] > 0 {
		text += "; what was not seen is empty, and listed on top of the tree"
	}
	s.note("%s", text)
	for _, n := range t.Notes {
		s.note("%s", n)
	}
}

// world writes where the session works and what is there.
func (s *builder) world(line func(string, ...any)) {
	if s.cwd != "" && s.cwd != defaultDir {
		line("  cwd: %s", quote(s.cwd))
	}
	if s.out.Tree != "" {
		line("  tree: %s # the files as the session saw them", s.out.Tree)
	}
	if len(s.apart) > 0 {
		line("  files: # an archive cannot hold these")
		for _, f := range s.apart {
			line("    %s: %s", quote(f.Path), quote(f.Text))
		}
	}
}
