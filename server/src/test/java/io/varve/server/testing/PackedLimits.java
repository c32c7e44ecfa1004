package io.varve.server.testing;

import java.io.IOException;

import io.varve.server.differential.DifferentialSide;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The maximum number of elements of a collection that a server keeps in one item, for tests with small collections.
 * Immutable.
 */
public final class PackedLimits {
    private static final long[] ENTRIES = {128, 1, 9};

    private PackedLimits() {}

    /** Sets one limit after the other. @return which */
    public static long vary(int port, long script) throws IOException {
        long entries = ENTRIES[(int) (script % ENTRIES.length)];
        try (RawClient client = new RawClient(port)) {
            assertThat(client.call("CONFIG", "SET", "packed-max-entries", Long.toString(entries)).text())
                    .isEqualTo("OK");
        }
        return entries;
    }

    /** Whether collections of twice so many elements are packed. */
    public static boolean arePacked(DifferentialSide varve, int elements) throws IOException {
        RawReply setting = varve.call("CONFIG", "GET", "packed-max-entries");
        return Long.parseLong(setting.elements().getLast().text()) >= 2L * elements;
    }
}
