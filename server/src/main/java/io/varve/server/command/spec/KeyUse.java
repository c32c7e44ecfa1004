package io.varve.server.command.spec;

import java.util.List;

/**
 * How a command uses some of its keys: a key specification of COMMAND INFO. Immutable.
 *
 * @param firstKey the first key argument
 * @param lastKey the last key argument, counted from the first, or from the end of the arguments if negative
 * @param keyStep distance from one key to the next
 * @param limit the part of the arguments up to {@code lastKey} that are keys: 2 for the first half; 0 for all
 * @param counted whether the argument at {@code firstKey} is the number of the keys that follow it; {@code lastKey} is
 *     then unused
 * @param word the key follows this keyword, at {@code firstKey} or later; empty if the key has a fixed position
 * @param flags {@code RO}, {@code RW}, {@code OW} or {@code RM}, and {@code access}, {@code update}, {@code insert},
 *     {@code delete}; or {@code not_key} alone
 */
public record KeyUse(int firstKey, int lastKey, int keyStep, int limit, boolean counted, String word,
        List<String> flags) {
    /** One of the flags: the use depends on the options, and the other flags list every possible use. */
    static final String VARIABLE = "variable_flags";

    /** The only flag: the argument is no key, but a name that a cluster hashes to a node like a key. */
    public static final String NO_KEY = "not_key";

    KeyUse(int firstKey, int lastKey, int keyStep, boolean counted, List<String> flags) {
        this(firstKey, lastKey, keyStep, 0, counted, "", flags);
    }

    /** Keys after the first argument whose positions COMMAND INFO does not list. */
    static KeyUse unknown(List<String> flags) {
        return new KeyUse(0, 0, 0, false, flags);
    }

    /** Whether the positions are not listed. */
    public boolean isUnknown() {
        return firstKey == 0;
    }

    /** Whether the arguments are no keys at all. */
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
