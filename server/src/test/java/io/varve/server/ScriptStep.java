package io.varve.server;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One command of a differential script and how its two replies are to be compared. Immutable.
 *
 * @param arguments as ISO 8859-1, so that each char is a byte
 */
record ScriptStep(Comparison comparison, List<String> arguments) {
    /** How replies may differ. */
    enum Comparison {
        /** Not at all. */
        EXACT,
        /** Integers by up to two seconds, in the reply's unit of a second. */
        SECONDS,
        /** Integers by up to two seconds, in milliseconds. */
        MILLIS,
        /** An array in any order. */
        ANY_ORDER,
        /** The fields of a hash: in any order, but in the same order while the reference keeps a listpack. */
        HASH_ORDER,
        /** The pages of a whole SCAN, SSCAN, HSCAN or ZSCAN, collected; the cursor is argument 1 or 2. */
        WHOLE_SCAN,
        /** Both nothing, or a key that is there. */
        RANDOM_KEY,
        /** Fields that are there, as many as the reference answers. */
        RANDOM_FIELDS,
        /** Members of a set that are there, as many as the reference answers. */
        RANDOM_SET_MEMBERS,
        /** The same, and they are not there any more; unless it happened to be the same ones, the key goes on both sides. */
        RANDOM_POP,
        /** Any number of confirmations, messages and errors, in any order. */
        PUSHES,
        /** The same for the members of a sorted set. */
        RANDOM_MEMBERS,
        /** Distances by one in their last digit. */
        DISTANCES,
        /** Both errors are the same, and of other replies only the kind is: what one tells of itself. */
        SHAPE
    }

    static ScriptStep exact(String... arguments) {
        return new ScriptStep(Comparison.EXACT, List.of(arguments));
    }

    /** Whether the comparison needs further commands, which have to run before the next step. */
    boolean runsAlone() {
        return switch (comparison) {
            case WHOLE_SCAN, RANDOM_KEY, RANDOM_FIELDS, RANDOM_SET_MEMBERS, RANDOM_POP, RANDOM_MEMBERS, HASH_ORDER,
                    PUSHES ->
                true;
            case EXACT, SECONDS, MILLIS, ANY_ORDER, DISTANCES, SHAPE -> false;
        };
    }

    List<byte[]> bytes() {
        return arguments.stream().map(a -> a.getBytes(StandardCharsets.ISO_8859_1)).toList();
    }

    @Override
    public String toString() {
        return arguments.stream().map(RawReply::quote).collect(Collectors.joining(" "));
    }
}
