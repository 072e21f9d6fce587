//go:build !race

package poll

// simDefaultSeeds is how many simulations run when FRESHET_SIM_SEEDS does not say.
const simDefaultSeeds = 20
