//go:build race

package poll

// underRace says whether the race detector watches: it makes the database dozens of times slower.
const (
	underRace       = true
	simDefaultSeeds = 1 // when FRESHET_SIM_SEEDS does not say
)
