package permission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A group that no program has, or of one phrase, would bind nothing.
func TestWordsThatDoTheSameAreGroups(t *testing.T) {
	assert.NotEmpty(t, sameWords())
	for line := range strings.Lines(sameText) {
		programs, words, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		assert.True(t, found && programs != "", line)
		assert.Greater(t, len(strings.Split(words, ", ")), 1, line)
		assert.Equal(t, strings.Join(strings.Fields(words), " "), strings.TrimSpace(words), line)
	}
}

func TestOtherWordsOfARuleLeaveNothingOfItOpen(t *testing.T) {
	for content, want := range map[string][]string{
		"docker rm -f *":    {"docker rm -f *", "docker container rm -f *", "docker container remove -f *"},
		"docker rm:*":       {"docker rm:*", "docker container rm *", "docker container remove *"},
		"yarn run *":        {"yarn run *", "yarn run run *"}, // all of yarn's scripts are not all of yarn
		"yarn run deploy":   {"yarn run deploy", "yarn run run deploy", "yarn deploy"},
		"yarn deploy":       {"yarn deploy", "yarn run deploy"},
		"gcloud beta *":     {"gcloud beta *", "gcloud alpha beta *", "gcloud beta beta *", "gcloud alpha *"},
		"git stash *":       {"git stash *"},
		"ls *":              {"ls *"},
		"docker run rm x":   {"docker run rm x", "docker run container rm x", "docker run container remove x", "docker container run rm x"},
		"terraform destroy": {"terraform destroy", "terraform apply -destroy", "terraform apply --destroy"},
		"git rebase -i*":    {"git rebase -i*", "git pull --rebase -i *", "git pull -r -i *"},
		"git pull --rebase": {"git pull --rebase"}, // who forbids pulling so forbids no rebase
		"reboot*":           {"reboot*", "init 6", "shutdown -r *", "systemctl reboot *"},
	} {
		assert.ElementsMatch(t, want, sameAs(content), content)
	}
}
