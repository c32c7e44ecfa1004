package io.varve.server.command;

import io.varve.server.resp.Numbers;

/** The number of a logical database, as clients write it. Immutable: static methods only. */
public final class DatabaseNumber {
    private DatabaseNumber() {}

    /** The database that an argument names; -1 after an error was replied. */
    public static int read(Invocation call, int argument) {
        if (!call.requireLong(argument)) {
            return -1;
        }
        long database = call.longValue();
        if (database < Integer.MIN_VALUE || database > Integer.MAX_VALUE) {
            call.reply().error("ERR value is out of range, value must between -2147483648 and 2147483647");
            return -1;
        }
        if (database < 0 || database >= call.cache().databaseCount()) {
            call.reply().error("ERR DB index is out of range");
            return -1;
        }
        return (int) database;
    }

    /** The database that a text names, of so many; -1 if it names none. */
    public static int of(int count, long address, int length) {
        long database = Numbers.smallNatural(address, length);
        if (database < 0) {
            database = Numbers.isLong(address, length) ? Numbers.toLong(address, length) : -1;
        }
        return database >= 0 && database < count ? (int) database : -1;
    }
}
