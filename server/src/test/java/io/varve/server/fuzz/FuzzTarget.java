package io.varve.server.fuzz;

/**
 * Processes any bytes and fails if the result is wrong. Confined to the test's thread. It keeps no state from one input
 * to the next, so that any driver can use it (Jazzer does, guided by coverage: {@link JazzerRun}).
 */
@FunctionalInterface
public interface FuzzTarget {
    void fuzz(byte[] input);
}
