//go:build race

package poll

// simDefaultSeeds is how many simulations run when FRESHET_SIM_SEEDS does not say; the race detector makes the
// database twenty times slower.
const simDefaultSeeds = 2
