package io.varve.experiments.paced;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** What share of the requests each command has, in hundredths. Immutable. */
final class Mix {
    /** The kinds of requests. */
    enum Command {
        /** Reads a string, there or not. */
        GET,
        /** Writes a string under a key that never was: the store grows. */
        NEW,
        /** Writes a string under a key that never was, with a TTL. */
        EXPIRING,
        /** Writes a string in another length, there or not. */
        OVERWRITE,
        /** Deletes a string, there or not. */
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
     * Reads {@code GET 60 NEW 20 …}.
     *
     * @throws IllegalArgumentException if it is no hundred in all
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
                "mix '" + text + "': allowed are commands with their shares, as GET 60 NEW 40, "
                        + "a hundred in all; commands are " + Arrays.toString(Command.values()));
    }

    Command next(RandomGenerator random) {
        return hundred[random.nextInt(HUNDRED)];
    }
}
