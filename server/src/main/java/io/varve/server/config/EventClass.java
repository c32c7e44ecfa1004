package io.varve.server.config;

/** A class of key events, which {@code notify-keyspace-events} selects by a letter. Immutable. */
public enum EventClass {
    // In the order in which Redis shows the letters.
    GENERIC('g', 1), STRING('$', 1 << 1), LIST('l', 1 << 2), SET('s', 1 << 3), HASH('h', 1 << 4), SORTED_SET('z',
            1 << 5), EXPIRED('x', 1 << 6), EVICTED('e', 1 << 7),
    /** Events of a type that is not implemented (yet): accepted and shown. */
    STREAM('t', 1 << 8),
    /** Events of modules, which are not implemented: accepted and shown. */
    MODULE('d', 1 << 9),
    /** A key was created. */
    NEW('n', 1 << 10),
    /** A requested key does not exist. */
    MISS('m', 1 << 11);

    private final char letter;
    private final int bit;

    EventClass(char letter, int bit) {
        this.letter = letter;
        this.bit = bit;
    }

    /** The bit of this class in a set of classes. */
    public int bit() {
        return bit;
    }

    char letter() {
        return letter;
    }

}
