package io.varve.server.command;

import java.util.List;

/**
 * What a command does to some of its keys: a key specification of COMMAND INFO. Immutable.
 *
 * @param firstKey the argument at which the first of them stands
 * @param lastKey  the last one, counted from the first, or from the end of the arguments if negative
 * @param keyStep  from one to the next
 * @param counted  whether the argument at {@code firstKey} is no key but says how many follow it; {@code lastKey} then
 *                 means nothing
 * @param word     the key follows this word, which stands at {@code firstKey} or behind; empty if it is at its place
 * @param flags    {@code RO}, {@code RW}, {@code OW} or {@code RM}, and {@code access}, {@code update}, {@code insert},
 *                 {@code delete}; or {@code not_key} alone
 */
public record KeyUse(int firstKey, int lastKey, int keyStep, boolean counted, String word, List<String> flags) {
    /** Among the flags: what is done depends on the options, and the flags tell the most that may be. */
    static final String VARIABLE = "variable_flags";

    /** Alone: it is no key, but a name by which a cluster finds a node as it does by a key. */
    public static final String NO_KEY = "not_key";

    KeyUse(int firstKey, int lastKey, int keyStep, boolean counted, List<String> flags) {
        this(firstKey, lastKey, keyStep, counted, "", flags);
    }

    /** Keys whose places COMMAND INFO does not tell: behind the first argument. */
    static KeyUse unknown(List<String> flags) {
        return new KeyUse(0, 0, 0, false, flags);
    }

    /** Whether their places are not told. */
    public boolean isUnknown() {
        return firstKey == 0;
    }

    /** Whether these are no keys at all. */
    boolean isOfNoKey() {
        return flags.contains(NO_KEY);
    }

    /** Whether the argument, which is a key, is one of them. */
    boolean covers(int argumentIndex, int argumentCount) {
        if (isUnknown()) {
            return argumentIndex > 1;
        }
        if (counted || !word.isEmpty()) {
            return argumentIndex > firstKey;
        }
        int last = lastKey < 0 ? argumentCount + lastKey : firstKey + lastKey;
        return argumentIndex >= firstKey && argumentIndex <= last && (argumentIndex - firstKey) % keyStep == 0;
    }
}
