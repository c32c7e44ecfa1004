package io.varve.server.command.sort;

import java.util.Arrays;

import io.varve.server.command.Arguments;
import io.varve.server.command.Invocation;
import io.varve.server.command.KeyFinder;
import org.jspecify.annotations.Nullable;

/** What a SORT asks for. Confined to one command. */
final class SortRequest {
    private static final int FIRST_OPTION = 2;
    private static final String NOT_ALLOWED = " option of SORT denied due to insufficient ACL permissions.";

    private final boolean mayStore;
    private boolean descending;
    private boolean alphabetic;
    private long limitStart;
    private long limitCount = -1;
    private int storeArgument;
    private int byArgument;
    /** Whether BY names no key at all: nothing is sorted. */
    private boolean unsorted;
    private int[] gets = new int[2];
    private int getCount;

    private SortRequest(boolean mayStore) {
        this.mayStore = mayStore;
    }

    // --- before it runs

    /** Finds the keys that SORT names: what is sorted, and where the result goes. */
    static void findKeys(Arguments arguments, KeyFinder.KeyIndexes keys) {
        keys.add(1);
        int store = 0;
        for (int i = FIRST_OPTION; i < arguments.argumentCount(); i += 1 + operands(arguments, i, true)) {
            if (i + 1 < arguments.argumentCount() && arguments.argumentIs(i, "STORE")) {
                store = i + 1;
            }
        }
        if (store > 0) {
            keys.add(store);
        }
    }

    /** Whether BY or GET lead to keys that the command does not name. */
    static boolean usesOtherKeys(Arguments arguments) {
        for (int i = FIRST_OPTION; i < arguments.argumentCount(); i += 1 + operands(arguments, i, true)) {
            if ((arguments.argumentIs(i, "BY") || arguments.argumentIs(i, "GET"))
                    && i + 1 < arguments.argumentCount() && SortLookup.isPattern(arguments, i + 1)) {
                return true;
            }
        }
        return false;
    }

    /** How many arguments belong to the option at this one. */
    private static int operands(Arguments arguments, int option, boolean mayStore) {
        if (arguments.argumentIs(option, "LIMIT")) {
            return 2;
        }
        return arguments.argumentIs(option, "BY") || arguments.argumentIs(option, "GET")
                || mayStore && arguments.argumentIs(option, "STORE") ? 1 : 0;
    }

    // --- when it runs

    /** Reads the arguments; null after an error was replied. */
    static @Nullable SortRequest read(Invocation call, boolean mayStore) {
        SortRequest request = new SortRequest(mayStore);
        for (int i = FIRST_OPTION; i < call.argumentCount();) {
            int operands = operands(call, i, mayStore);
            if (i + operands >= call.argumentCount()) {
                call.syntaxError();
                return null;
            }
            if (!request.readOption(call, i)) {
                return null;
            }
            i += 1 + operands;
        }
        return request;
    }

    private boolean readOption(Invocation call, int option) {
        if (call.argumentIs(option, "ASC")) {
            descending = false;
        } else if (call.argumentIs(option, "DESC")) {
            descending = true;
        } else if (call.argumentIs(option, "ALPHA")) {
            alphabetic = true;
        } else if (call.argumentIs(option, "LIMIT")) {
            return readLimit(call, option);
        } else if (mayStore && call.argumentIs(option, "STORE")) {
            storeArgument = option + 1;
        } else if (call.argumentIs(option, "BY")) {
            return readBy(call, option + 1);
        } else if (call.argumentIs(option, "GET")) {
            return readGet(call, option + 1);
        } else {
            call.syntaxError();
            return false;
        }
        return true;
    }

    private boolean readLimit(Invocation call, int option) {
        if (!call.requireLong(option + 1)) {
            return false;
        }
        limitStart = call.longValue();
        if (!call.requireLong(option + 2)) {
            return false;
        }
        limitCount = call.longValue();
        return true;
    }

    private boolean readBy(Invocation call, int argument) {
        byArgument = argument;
        if (!SortLookup.isPattern(call, argument)) {
            // As in Redis it stays so, whatever other BY follows.
            unsorted = true;
        } else if (!call.mayReadAllKeys()) {
            call.reply().error("ERR BY" + NOT_ALLOWED);
            return false;
        }
        return true;
    }

    private boolean readGet(Invocation call, int argument) {
        if (!call.mayReadAllKeys()) {
            call.reply().error("ERR GET" + NOT_ALLOWED);
            return false;
        }
        if (getCount == gets.length) {
            gets = Arrays.copyOf(gets, 2 * getCount);
        }
        gets[getCount++] = argument;
        return true;
    }

    /** A set that is to be stored is sorted in any case, so that it is told what comes of it. */
    void sortByElements() {
        unsorted = false;
        alphabetic = true;
        byArgument = 0;
    }

    boolean descending() {
        return descending;
    }

    boolean alphabetic() {
        return alphabetic;
    }

    boolean unsorted() {
        return unsorted;
    }

    /** Whether other values than the elements decide. */
    boolean sortsByPattern() {
        return byArgument > 0 && !unsorted;
    }

    int byArgument() {
        return byArgument;
    }

    /** The argument with the key that the result is stored under; 0 if it is replied. */
    int storeArgument() {
        return storeArgument;
    }

    int getCount() {
        return getCount;
    }

    int getArgument(int index) {
        return gets[index];
    }

    /** The first place of the answer, of so many elements. */
    long from(long elements) {
        return Math.min(Math.max(limitStart, 0), elements);
    }

    /** The place behind the last. */
    long to(long elements) {
        long from = from(elements);
        return limitCount < 0 ? elements : from + Math.min(limitCount, elements - from);
    }
}
