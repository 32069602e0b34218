// All prints the names of the built-in tools that this build has.
package main

import (
	"fmt"
	"log"

	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
)

func main() {
	system, err := toolsys.New(toolsys.Config{Builtins: builtin.All(builtin.Deps{})})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range system.Catalogue.Entries() {
		if e.Tool != nil {
			fmt.Println(e.Name)
		}
	}
}
