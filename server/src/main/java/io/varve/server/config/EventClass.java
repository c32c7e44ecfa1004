package io.varve.server.config;

/** A class of what happens to keys, which {@code notify-keyspace-events} selects by a letter. Immutable. */
public enum EventClass {
    // In the order in which Redis shows the letters.
    GENERIC('g', 1), STRING('$', 1 << 1), LIST('l', 1 << 2), SET('s', 1 << 3), HASH('h', 1 << 4), SORTED_SET('z',
            1 << 5), EXPIRED('x', 1 << 6), EVICTED('e', 1 << 7),
    /** Of a type that is not there (yet): accepted and shown. */
    STREAM('t', 1 << 8),
    /** Of modules, which are not there: accepted and shown. */
    MODULE('d', 1 << 9),
    /** A key has come. */
    NEW('n', 1 << 10),
    /** A key that was asked for is not there. */
    MISS('m', 1 << 11);

    private final char letter;
    private final int bit;

    EventClass(char letter, int bit) {
        this.letter = letter;
        this.bit = bit;
    }

    /** Its own bit among those of all. */
    public int bit() {
        return bit;
    }

    char letter() {
        return letter;
    }

}
