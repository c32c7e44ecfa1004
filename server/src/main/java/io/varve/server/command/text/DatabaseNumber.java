package io.varve.server.command.text;

import io.varve.server.resp.Numbers;

/** Parses the numbers of logical databases. Immutable: static methods only. */
public final class DatabaseNumber {
    private DatabaseNumber() {}

    /** The database that a text names, out of {@code count}; -1 if it names none. */
    public static int of(int count, long address, int length) {
        long database = Numbers.smallNatural(address, length);
        if (database < 0) {
            database = Numbers.isLong(address, length) ? Numbers.toLong(address, length) : -1;
        }
        return database >= 0 && database < count ? (int) database : -1;
    }
}
