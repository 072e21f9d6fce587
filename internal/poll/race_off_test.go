//go:build !race

package poll

// underRace says whether the race detector watches: it makes the database dozens of times slower.
const (
	underRace       = false
	simDefaultSeeds = 20 // when FRESHET_SIM_SEEDS does not say
)
