package io.varve.server.differential.random;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

import io.varve.server.testing.RawReply;

/**
 * One command of a differential script, and the comparison of its two replies. Immutable.
 *
 * @param arguments as ISO 8859-1, so that each char is a byte
 */
public record ScriptStep(Comparison comparison, List<String> arguments) {
    /** How replies may differ. */
    public enum Comparison {
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
        /**
         * Random elements that are removed: unless both sides removed the same ones, the key is deleted on both
         * sides.
         */
        RANDOM_POP,
        /** Any number of confirmations, messages and errors, in any order. */
        PUSHES,
        /** Random members of a sorted set. */
        RANDOM_MEMBERS,
        /** Distances by one in their last digit. */
        DISTANCES,
        /** What consumer groups show of times, and what Redis 7.0 does not show. */
        GROUPS,
        /** Errors must be equal, and other replies of the same kind: for reports of a server about itself. */
        SHAPE
    }

    public static ScriptStep exact(String... arguments) {
        return new ScriptStep(Comparison.EXACT, List.of(arguments));
    }

    /** Whether the comparison needs further commands, which have to run before the next step. */
    public boolean runsAlone() {
        return switch (comparison) {
            case WHOLE_SCAN, RANDOM_KEY, RANDOM_FIELDS, RANDOM_SET_MEMBERS, RANDOM_POP, RANDOM_MEMBERS, HASH_ORDER,
                    PUSHES ->
                true;
            case EXACT, SECONDS, MILLIS, ANY_ORDER, DISTANCES, GROUPS, SHAPE -> false;
        };
    }

    public List<byte[]> bytes() {
        return arguments.stream().map(a -> a.getBytes(StandardCharsets.ISO_8859_1)).toList();
    }

    @Override
    public String toString() {
        return arguments.stream().map(RawReply::quote).collect(Collectors.joining(" "));
    }
}
