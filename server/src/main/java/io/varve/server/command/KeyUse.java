package io.varve.server.command;

import java.util.List;

/**
 * What a command does to some of its keys: a key specification of COMMAND INFO. Immutable.
 *
 * @param firstKey the argument at which the first of them stands
 * @param lastKey  the last one, counted from the first, or from the end of the arguments if negative
 * @param keyStep  from one to the next
 * @param flags    {@code RO}, {@code RW}, {@code OW} or {@code RM}, and {@code access}, {@code update}, {@code insert},
 *                 {@code delete}
 */
public record KeyUse(int firstKey, int lastKey, int keyStep, List<String> flags) {
    /** Among the flags: what is done depends on the options, and the flags tell the most that may be. */
    static final String VARIABLE = "variable_flags";

    /** Whether the argument is one of them. */
    boolean covers(int argumentIndex, int argumentCount) {
        int last = lastKey < 0 ? argumentCount + lastKey : firstKey + lastKey;
        return argumentIndex >= firstKey && argumentIndex <= last && (argumentIndex - firstKey) % keyStep == 0;
    }
}
