package io.varve.server.command.sort;

import java.util.Arrays;

import io.varve.server.command.CommandContext;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.KeyFinder;
import org.jspecify.annotations.Nullable;

/** The parsed arguments of a SORT. Confined to one command. */
final class SortRequest {
    private static final int FIRST_OPTION = 2;
    private static final String NOT_IN_CLUSTER = " option of SORT denied in Cluster mode.";
    private static final String NOT_ALLOWED = " option of SORT denied due to insufficient ACL permissions.";

    private final boolean mayStore;
    private boolean descending;
    private boolean alphabetic;
    private long limitStart;
    private long limitCount = -1;
    private int storeArgument;
    private int byArgument;
    /** Whether BY is no pattern: nothing is sorted. */
    private boolean unsorted;
    private int[] gets = new int[2];
    private int getCount;

    private SortRequest(boolean mayStore) {
        this.mayStore = mayStore;
    }

    // --- before it runs

    /** Finds the keys that SORT names: the input and the destination. */
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

    /** Number of operands of the option at this argument. */
    private static int operands(Arguments arguments, int option, boolean mayStore) {
        if (arguments.argumentIs(option, "LIMIT")) {
            return 2;
        }
        return arguments.argumentIs(option, "BY") || arguments.argumentIs(option, "GET")
                || mayStore && arguments.argumentIs(option, "STORE") ? 1 : 0;
    }

    // --- when it runs

    /** Reads the arguments; null after an error was replied. */
    static @Nullable SortRequest read(CommandContext context, boolean mayStore) {
        SortRequest request = new SortRequest(mayStore);
        for (int i = FIRST_OPTION; i < context.argumentCount();) {
            int operands = operands(context, i, mayStore);
            if (i + operands >= context.argumentCount()) {
                context.syntaxError();
                return null;
            }
            if (!request.readOption(context, i)) {
                return null;
            }
            i += 1 + operands;
        }
        return request;
    }

    private boolean readOption(CommandContext context, int option) {
        if (context.argumentIs(option, "ASC")) {
            descending = false;
        } else if (context.argumentIs(option, "DESC")) {
            descending = true;
        } else if (context.argumentIs(option, "ALPHA")) {
            alphabetic = true;
        } else if (context.argumentIs(option, "LIMIT")) {
            return readLimit(context, option);
        } else if (mayStore && context.argumentIs(option, "STORE")) {
            storeArgument = option + 1;
        } else if (context.argumentIs(option, "BY")) {
            return readBy(context, option + 1);
        } else if (context.argumentIs(option, "GET")) {
            return readGet(context, option + 1);
        } else {
            context.syntaxError();
            return false;
        }
        return true;
    }

    private boolean readLimit(CommandContext context, int option) {
        if (!context.requireLong(option + 1)) {
            return false;
        }
        limitStart = context.longValue();
        if (!context.requireLong(option + 2)) {
            return false;
        }
        limitCount = context.longValue();
        return true;
    }

    private boolean readBy(CommandContext context, int argument) {
        byArgument = argument;
        if (!SortLookup.isPattern(context, argument)) {
            // As in Redis, a later BY does not change that.
            unsorted = true;
        } else if (context.server().cluster() != null) {
            context.reply().error("ERR BY" + NOT_IN_CLUSTER);
            return false;
        } else if (!context.mayReadAllKeys()) {
            context.reply().error("ERR BY" + NOT_ALLOWED);
            return false;
        }
        return true;
    }

    private boolean readGet(CommandContext context, int argument) {
        if (context.server().cluster() != null) {
            context.reply().error("ERR GET" + NOT_IN_CLUSTER);
            return false;
        }
        if (!context.mayReadAllKeys()) {
            context.reply().error("ERR GET" + NOT_ALLOWED);
            return false;
        }
        if (getCount == gets.length) {
            gets = Arrays.copyOf(gets, 2 * getCount);
        }
        gets[getCount++] = argument;
        return true;
    }

    /** Sorts by the elements: a stored set is always sorted, so that the result is deterministic. */
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

    /** Whether values other than the elements determine the order. */
    boolean sortsByPattern() {
        return byArgument > 0 && !unsorted;
    }

    int byArgument() {
        return byArgument;
    }

    /** The argument with the destination key; 0 if the result is replied. */
    int storeArgument() {
        return storeArgument;
    }

    int getCount() {
        return getCount;
    }

    int getArgument(int index) {
        return gets[index];
    }

    /** First index of the result, among this many elements. */
    long from(long elements) {
        return Math.min(Math.max(limitStart, 0), elements);
    }

    /** Index after the last of the result. */
    long to(long elements) {
        long from = from(elements);
        return limitCount < 0 ? elements : from + Math.min(limitCount, elements - from);
    }
}
