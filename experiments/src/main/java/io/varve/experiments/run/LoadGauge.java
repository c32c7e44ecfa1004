package io.varve.experiments.run;

/** How fast the load is going: written by the load's thread alone, read by the monitor and the progress line. */
final class LoadGauge {
    private volatile double operationsPerSecond;

    void set(double value) {
        operationsPerSecond = value;
    }

    double operationsPerSecond() {
        return operationsPerSecond;
    }
}
