package io.varve.experiments.paced;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** The share of each command among the requests, in hundredths. Immutable. */
final class Mix {
    /** The kinds of requests. */
    enum Command {
        /** Reads a string, existing or not. */
        GET,
        /** Writes a string under a new key: the store grows. */
        NEW,
        /** Writes a string under a new key, with a TTL. */
        EXPIRING,
        /** Writes a string in another length, existing or not. */
        OVERWRITE,
        /** Deletes a string, existing or not. */
        DEL,
        /** Writes a field of a hash. */
        HSET,
        /** Reads a field of a hash. */
        HGET
    }

    private static final int HUNDRED = 100;
    private final Command[] hundred;

    private Mix(Command[] hundred) {
        this.hundred = hundred;
    }

    /**
     * Parses {@code GET 60 NEW 20 …}.
     *
     * @throws IllegalArgumentException if the shares do not sum up to a hundred
     */
    static Mix parse(String text) {
        String[] words = text.trim().split("\\s+", -1);
        Command[] hundred = new Command[HUNDRED];
        int filled = 0;
        for (int i = 0; i + 1 < words.length; i += 2) {
            int share = Integer.parseInt(words[i + 1]);
            if (share < 0 || filled + share > HUNDRED) {
                throw wrong(text);
            }
            Arrays.fill(hundred, filled, filled + share, Command.valueOf(words[i]));
            filled += share;
        }
        if (filled != HUNDRED || words.length % 2 != 0) {
            throw wrong(text);
        }
        return new Mix(hundred);
    }

    private static IllegalArgumentException wrong(String text) {
        return new IllegalArgumentException(
                "mix '" + text + "': expected commands with their percentages, such as GET 60 NEW 40, "
                        + "which add up to 100; commands are " + Arrays.toString(Command.values()));
    }

    Command next(RandomGenerator random) {
        return hundred[random.nextInt(HUNDRED)];
    }
}
