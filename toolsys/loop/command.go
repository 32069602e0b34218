package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// expanded gives the message that a command of the user's stands for (B1): one that begins with
// a slash and the name of a command there is. Any other stays as it is, and what stands in an
// agent's task is no command.
func (s *Session) expanded(ctx context.Context, m message.Message) (message.Message, error) {
	if s.cfg.Commands == nil || s.cfg.Depth > 0 || len(m.Content) == 0 || !strings.HasPrefix(m.Content[0].Text, "/") {
		return m, nil
	}
	name, args, _ := strings.Cut(strings.TrimPrefix(m.Content[0].Text, "/"), " ")
	commands := s.cfg.Commands(ctx)
	i := slices.IndexFunc(commands, func(c tool.Command) bool { return c.Name == strings.TrimSpace(name) })
	if i < 0 {
		return m, nil
	}
	filled, err := commands[i].Expand(ctx, strings.TrimSpace(args))
	for _, step := range []func(tool.Expansion) error{s.hookAll, s.modify} {
		if err == nil {
			err = step(filled)
		}
	}
	if err != nil {
		return m, fmt.Errorf("the command /%s: %w", name, err)
	}
	s.trace(trace.Notice{Text: "the command /" + commands[i].Name})
	m.Content = slices.Concat([]message.Block{message.Text("<command-name>/" + commands[i].Name + "</command-name>")}, filled.Blocks, m.Content[1:])
	return m, nil
}

func (s *Session) hookAll(e tool.Expansion) error {
	for _, h := range e.Hooks {
		if err := s.hook(h); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) modify(e tool.Expansion) error {
	if e.Modify == nil {
		return nil
	}
	return s.change(e.Modify)
}
