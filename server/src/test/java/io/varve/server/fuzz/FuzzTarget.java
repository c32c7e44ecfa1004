package io.varve.server.fuzz;

/**
 * Takes any bytes and fails if something is wrong with what is done with them. Confined to the test's thread; nothing is remembered from
 * one input to the next, so that whatever drives it (Jazzer does, by what is reached: {@link JazzerRun}) can.
 */
@FunctionalInterface
public interface FuzzTarget {
    void fuzz(byte[] input);
}
