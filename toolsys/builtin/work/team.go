package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"toolbench/toolsys/tool"
)

// CodeTeamName refuses a name that is none.
const CodeTeamName = 1

// TeamCreateIn is what TeamCreate takes.
type TeamCreateIn struct {
	Name        string `json:"team_name" minLength:"1" jsonschema:"The team's name: a letter, then letters, digits, _ and -"`
	Description string `json:"description,omitempty" jsonschema:"What the team is for"`
}

// TeamOut is what the tools about teams answer with.
type TeamOut struct {
	Team string `json:"team_name"`
	Lead string `json:"lead"`
	// Members are those of a team that was deleted.
	Members []string `json:"members,omitempty"`
}

// TeamCreate makes a team that the caller leads (SPEC L).
func TeamCreate(d Deps) *tool.Tool {
	return tool.Must(tool.Def[TeamCreateIn, TeamOut]{
		Name:        "TeamCreate",
		Coordinates: true,
		Texts:       prompts.Of("teamcreate"),
		Call:        tool.Data(d.createTeam),
		Text: func(out TeamOut) string {
			return fmt.Sprintf("The team %s is there and you lead it, as %s. Start its members with Agent, each with a name.", out.Team, out.Lead)
		},
		Validate: func(in TeamCreateIn, _ *tool.Context) *tool.Refusal {
			if !agentName.MatchString(in.Name) {
				return &tool.Refusal{Message: fmt.Sprintf("%q is no name for a team: use a letter and then letters, digits, _ and -, 64 at most", in.Name), Code: CodeTeamName}
			}
			return nil
		},
		Permit:  tool.Allows[TeamCreateIn]("the team is the session's own"),
		Traits:  tool.Traits[TeamCreateIn]{Effects: changes[TeamCreateIn]("inbox")},
		Loading: tool.Loading{Deferrable: true},
		View: tool.Doing("New team", "Making the team ",
			func(in TeamCreateIn) string { return in.Name }).Colored("agent"),
	})
}

func (d Deps) createTeam(_ context.Context, in TeamCreateIn, c *tool.Context) (TeamOut, error) {
	err := d.Inbox.Found(tool.Team{Name: in.Name, About: in.Description, Lead: c.AgentID})
	switch {
	case errors.Is(err, tool.ErrTeamName):
		return TeamOut{}, fmt.Errorf("there is a team %q already; choose another name", in.Name)
	case errors.Is(err, tool.ErrInTeam):
		return TeamOut{}, fmt.Errorf("%w; an agent is in one team at a time, and who leads one ends it with TeamDelete", err)
	}
	return TeamOut{Team: in.Name, Lead: d.nameOf(c.AgentID)}, err
}

// TeamDelete ends the team that the caller leads (SPEC L).
func TeamDelete(d Deps) *tool.Tool {
	return tool.Must(tool.Def[Nothing, TeamOut]{
		Name:        "TeamDelete",
		Coordinates: true,
		Texts:       prompts.Of("teamdelete"),
		Call:        tool.Data(d.deleteTeam),
		Text: func(out TeamOut) string {
			if len(out.Members) == 0 {
				return fmt.Sprintf("The team %s is deleted. It had no members.", out.Team)
			}
			return fmt.Sprintf("The team %s is deleted. Its members were %s.", out.Team, strings.Join(out.Members, ", "))
		},
		Permit:  tool.Allows[Nothing]("the team is the session's own"),
		Traits:  tool.Traits[Nothing]{Effects: changes[Nothing]("inbox")},
		Loading: tool.Loading{Deferrable: true},
		View:    tool.Titled[Nothing]("Delete team", "Deleting the team", nil).Colored("agent"),
	})
}

func (d Deps) deleteTeam(_ context.Context, _ Nothing, c *tool.Context) (TeamOut, error) {
	t, members, err := d.Inbox.Disband(c.AgentID)
	names := tool.Each(members, func(p tool.Peer) string { return p.Name })
	switch {
	case errors.Is(err, tool.ErrNoTeam):
		return TeamOut{}, errors.New("you lead no team; make one with TeamCreate")
	case err != nil:
		return TeamOut{}, fmt.Errorf("%s still work for the team %s; let them finish, ask them to end with SendMessage (shutdown_request), or stop their tasks with TaskStop", strings.Join(names, ", "), t.Name)
	}
	return TeamOut{Team: t.Name, Lead: d.nameOf(c.AgentID), Members: names}, nil
}

// PeerOut is one agent on the list.
type PeerOut struct {
	Name   string `json:"name"`
	Agent  string `json:"agent_id,omitempty"`
	Status string `json:"status"`
	Title  string `json:"title,omitempty"`
	Team   string `json:"team,omitempty"`
	Task   string `json:"task_id,omitempty"`
	// You marks the agent that asks.
	You bool `json:"you,omitempty"`
}

// ListPeersOut is what ListPeers answers with, in the order in which the agents joined.
type ListPeersOut struct {
	Peers []PeerOut `json:"peers"`
}

// ListPeers lists the agents of the session (SPEC L).
func ListPeers(d Deps) *tool.Tool {
	return tool.Must(tool.Def[Nothing, ListPeersOut]{
		Name:        "ListPeers",
		Coordinates: true,
		Texts:       prompts.Of("listpeers"),
		Call: tool.Data(func(_ context.Context, _ Nothing, c *tool.Context) (ListPeersOut, error) {
			return ListPeersOut{Peers: tool.Each(d.Inbox.Peers(), func(p tool.Peer) PeerOut {
				return PeerOut{
					Name: p.Name, Agent: p.Agent, Status: string(p.Status), Title: p.Title, Team: p.Team, Task: p.Task, You: p.Agent == c.AgentID,
				}
			})}, nil
		}),
		Text:   ListPeersOut.text,
		Traits: tool.Looks(tool.Class{List: true}, func(Nothing, *tool.Context) []string { return []string{"inbox"} }),
		View:   tool.Titled[Nothing]("Agents", "Listing the agents", nil),
		Draw:   tool.Drawing[Nothing, ListPeersOut]{Result: drawPeers},
	})
}

func (out ListPeersOut) text() string {
	var b strings.Builder
	for i, p := range out.Peers {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s", p.Name, p.Status)
		for _, more := range [][2]string{{"", p.Title}, {"team ", p.Team}, {"id ", p.Agent}, {"", p.Task}} {
			if more[1] != "" && more[1] != p.Name {
				b.WriteString(", " + more[0] + more[1])
			}
		}
		if p.You {
			b.WriteString(" (you)")
		}
	}
	return b.String()
}
