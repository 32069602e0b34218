// Package agent holds the built-in tools that hand work to another agent. How a
// sub-agent is run is the loop's business and comes in through Deps; what is
// decided here is what the model may ask for and what it gets back.
package agent
