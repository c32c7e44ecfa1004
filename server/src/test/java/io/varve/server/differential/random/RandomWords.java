package io.varve.server.differential.random;

import java.util.SplittableRandom;

/**
 * The words that random commands of different families share: few keys, so that they interact, huge numbers, empty
 * strings, binary keys and values, times in the far future and past, all databases. Confined to the test's thread.
 *
 * <p>No time is so near that it could pass while a script runs, none so far (the year 10889) that Varve's 48 bits of
 * milliseconds would truncate it, and no string is so large that it would matter.
 */
final class RandomWords {
    private static final String[] KEYS = {"a", "b", "c", "key:1", "key:2", "hash", "hash2", "list", "list2", "",
            "\0\u00ff\r\n",
            "a*[b]", "k".repeat(300), "{tag}1", "set", "set2", "bits", "z", "z2"};
    private static final String[] NUMBERS = {"0", "1", "-1", "2", "10", "100", "-100", "9223372036854775807",
            "-9223372036854775808", "9223372036854775806", "-9223372036854775807", "4611686018427387904",
            "9223372036854775808", "-9223372036854775809", "99999999999999999999999", "-0", "00", "01", "+1", " 1",
            "1 ", "",
            "1.5", "abc", "0x10", "1e3", "-", "2147483648", "-2147483649"};
    private static final String[] FLOATS = {"0", "1", "-1", "0.1", "0.2", "-0.3", "1.5", "3.0e3", "5.0e-3", "1e17",
            "1e-17",
            "-1e-20", "123456789.123456789", "99999999999999999999", "3.14159265358979323846", "1e300", "-1e300",
            "1e4932",
            "1e5000", "1e-5000", "inf", "-inf", "nan", "0x1p4", "1e", "", " 1", "1 ", "abc", ".5", "5.", "+2", "-0",
            "0e0", "1_0",
            "1f", "0.30000000000000000001"};
    private static final String[] PATTERNS = {"*", "k*", "?ey*", "[a-k]*", "[^a]*", "", "**", "a\\*\\[b\\]",
            "key:[0-9]", "h*h*",
            "[", "f?", "f*f*f", "[b-a]", "a*[b]"};

    private final SplittableRandom random;

    RandomWords(SplittableRandom random) {
        this.random = random;
    }

    SplittableRandom source() {
        return random;
    }

    /** A number from 0 to one less than the bound. */
    int below(int bound) {
        return random.nextInt(bound);
    }

    /** One of those, each as likely. */
    String one(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    /** One of the few that all commands share, of whatever type. */
    String key() {
        return one(KEYS);
    }

    String pattern() {
        return one(PATTERNS);
    }

    /** An integer, large or wrong now and then. */
    String number() {
        return oneIn(3) ? Integer.toString(random.nextInt(-200, 200)) : one(NUMBERS);
    }

    /** A number with a fraction, or what looks like one. */
    String decimal() {
        return one(FLOATS);
    }

    /** Anything that a string may be. */
    String value() {
        return switch (random.nextInt(9)) {
            case 0, 1 -> Integer.toString(random.nextInt(-1000, 1000));
            case 2 -> one(NUMBERS);
            case 3 -> decimal();
            case 4 -> bytes(random.nextInt(8));
            case 5 -> bytes(one("44", "45", "63", "64", "65", "127", "128", "129"));
            case 6 -> oneIn(10) ? bytes(random.nextInt(60_000)) : bytes(random.nextInt(400));
            default -> "v" + random.nextInt(100);
        };
    }

    private String bytes(String length) {
        return bytes(Integer.parseInt(length));
    }

    /** So many bytes, of three letters or of any. */
    String bytes(int length) {
        StringBuilder text = new StringBuilder(length);
        int alphabet = oneIn(2) ? 3 : 256;
        for (int i = 0; i < length; i++) {
            int c = random.nextInt(alphabet);
            text.append((char) (alphabet == 3 ? 'a' + c : c));
        }
        return text.toString();
    }

    /** Mostly one that is there. */
    String database() {
        return oneIn(6) ? one("16", "-1", "abc", "99999999999", "", "1.5", "00") : Integer.toString(random.nextInt(16));
    }

    /** A time span that is long, or past, or wrong. */
    String span(long unitMillis) {
        if (oneIn(4)) {
            return one("0", "-1", "-100000", "9223372036854775807", "-9223372036854775808",
                    unitMillis == 1 ? "9223372036854775800" : "9223372036854775", "abc", "",
                    "1.5", "99999999999999999999");
        }
        return Long.toString(random.nextLong(1_000_000, 1_000_000_000) / unitMillis + 1_000_000 / unitMillis);
    }

    /** A point in time that is far, or past, or wrong. */
    String time(long unitMillis) {
        if (oneIn(4)) {
            return one("0", "-1", "1", "1000", "-9223372036854775808",
                    unitMillis == 1 ? "9223372036854775808" : "9223372036854775807", "abc", "");
        }
        if (oneIn(5)) {
            return Long.toString(253_402_300_799_000L / unitMillis);
        }
        return Long.toString((System.currentTimeMillis() + random.nextLong(1_000_000, 1_000_000_000)) / unitMillis);
    }
}
