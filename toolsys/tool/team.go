package tool

import (
	"errors"
	"fmt"
	"slices"
)

// Team is a group of agents that can write to each other as one (SPEC L).
type Team struct {
	Name, About string
	// Lead is the id of the agent that made it.
	Lead string
}

// Errors of teams.
var (
	ErrTeamName = errors.New("the team's name is taken")
	ErrInTeam   = errors.New("the agent is in a team already")
	ErrNoTeam   = errors.New("the agent leads no team")
	ErrTeamBusy = errors.New("members of the team are at work")
)

// Found makes a team of which the lead is the first member. Errors: ErrNoPeer, ErrTeamName, ErrInTeam.
func (b *Inbox) Found(t Team) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	lead, err := b.find(t.Lead)
	switch {
	case err != nil:
		return err
	case lead.Team != "":
		return fmt.Errorf("%w: %s", ErrInTeam, lead.Team)
	case slices.ContainsFunc(b.teams, func(o Team) bool { return o.Name == t.Name }):
		return fmt.Errorf("%w: %s", ErrTeamName, t.Name)
	}
	lead.Team = t.Name
	b.teams = append(b.teams, t)
	return nil
}

// Disband ends the team that an agent leads and dismisses its members, which it gives.
// Errors: ErrNoTeam, and ErrTeamBusy with the members that are at work, while there are.
func (b *Inbox) Disband(lead string) (t Team, members []Peer, err error) {
	b.mu.Lock()
	defer b.unlock()
	i := slices.IndexFunc(b.teams, func(t Team) bool { return t.Lead == lead })
	if i < 0 {
		return Team{}, nil, ErrNoTeam
	}
	t = b.teams[i]
	var busy []Peer
	for _, p := range b.peers {
		if p.Team != t.Name || p.Agent == lead {
			continue
		}
		members = append(members, p.Peer)
		if b.busy(p) {
			busy = append(busy, p.Peer)
		}
	}
	if len(busy) > 0 {
		return t, busy, ErrTeamBusy
	}
	b.teams = slices.Delete(b.teams, i, i+1)
	for _, p := range b.peers {
		if p.Team == t.Name {
			p.Team, p.Stays = "", false
		}
	}
	return t, members, nil
}
