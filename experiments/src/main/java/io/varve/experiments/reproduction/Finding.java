package io.varve.experiments.reproduction;

/**
 * A claim and our measurement. Immutable.
 *
 * @param claim the paper's statement
 * @param measured our number; NaN if no run yields it
 */
record Finding(Claim claim, double measured) {
    boolean isMeasured() {
        return Double.isFinite(measured);
    }

    boolean holds() {
        return isMeasured() && claim.holds(measured);
    }
}
