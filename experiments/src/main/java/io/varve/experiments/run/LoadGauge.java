package io.varve.experiments.run;

/** How fast the load is going, and how far it is: written by the load's thread alone, read by the monitor and the progress line. */
final class LoadGauge {
    private volatile double operationsPerSecond;
    private volatile long operations;

    void set(double value) {
        operationsPerSecond = value;
    }

    double operationsPerSecond() {
        return operationsPerSecond;
    }

    /** Operations of the phase that are done, where the load tells it. */
    void done(long value) {
        operations = value;
    }

    long done() {
        return operations;
    }
}
