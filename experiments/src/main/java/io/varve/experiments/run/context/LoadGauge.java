package io.varve.experiments.run.context;

/**
 * The rate and the progress of the load. Single writer the load's thread; readers are the monitor and the progress
 * line.
 */
public final class LoadGauge {
    private volatile double operationsPerSecond;
    private volatile long operations;

    public void set(double value) {
        operationsPerSecond = value;
    }

    double operationsPerSecond() {
        return operationsPerSecond;
    }

    /** Completed operations of the phase, if the load reports them. */
    public void done(long value) {
        operations = value;
    }

    public long done() {
        return operations;
    }
}
