package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

/** Draws random commands on the bits of strings, which stay short. Confined to the test's thread. */
final class RandomBitmapCommands extends CommandGenerator {
    static final String[] KEYS = {"bits", "bits2"};
    private static final String[] WRONG_OFFSETS = {"-1", "4294967296", "9223372036854775807", "-9223372036854775808",
            "9223372036854775808", "abc", "", "1.5", "01", "#", "#-1", "#abc", "##1"};
    private static final String[] FAR = {"4294967295", "4294967232", "100000000"};
    private static final String[] INDEXES = {"0", "1", "-1", "2", "-2", "7", "8", "-8", "9", "63", "64", "100", "-100",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808", "abc", "", "1.5"};
    private static final String[] NUMBERS = {"0", "1", "-1", "2", "127", "128", "-128", "-129", "255", "256", "65535",
            "2147483647", "4294967296", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
            "4611686018427387904", "abc", ""};
    private static final String[] WRONG_TYPES = {"u64", "i65", "u0", "i0", "x8", "u", "i", "", "U8", "u08", "u-1", "8"};

    RandomBitmapCommands(Source source) {
        super(source);
    }

    private String key() {
        return oneIn(3) ? draw.key() : one(KEYS);
    }

    private String offset() {
        return oneIn(10) ? one(WRONG_OFFSETS) : Integer.toString(random.nextInt(oneIn(20) ? 20_000 : 200));
    }

    private String bit() {
        return oneIn(15) ? one("2", "-1", "abc", "", "00") : one("0", "1");
    }

    @Override
    void any() {
        switch (random.nextInt(14)) {
            case 0, 1, 2 -> add("SETBIT", key(), offset(), bit());
            case 3 -> add("GETBIT", key(), oneIn(8) ? one(FAR) : offset());
            case 4, 5 -> range(new ArrayList<>(List.of("BITCOUNT", key())), 2);
            case 6, 7 -> range(new ArrayList<>(List.of("BITPOS", key(), bit())), 1);
            case 8, 9 -> operation();
            default -> bitfield();
        }
    }

    private void range(List<String> words, int min) {
        int indexes = random.nextInt(6);
        if (indexes >= min) {
            words.add(index());
        }
        if (indexes > 1) {
            words.add(index());
        }
        if (indexes > 3) {
            words.add(oneIn(6) ? one("foo", "", "BITS") : one("BIT", "BYTE", "bit"));
        }
        add(words.toArray(String[]::new));
    }

    private String index() {
        return oneIn(2) ? Integer.toString(random.nextInt(-70, 70)) : one(INDEXES);
    }

    private void operation() {
        List<String> words = new ArrayList<>(List.of("BITOP", oneIn(20) ? "foo" : one("AND", "OR", "XOR", "NOT", "or"),
                key()));
        for (int i = random.nextInt(3); i >= 0; i--) {
            words.add(key());
        }
        add(words.toArray(String[]::new));
    }

    private void bitfield() {
        boolean readOnly = oneIn(5);
        List<String> words = new ArrayList<>(List.of(readOnly ? "BITFIELD_RO" : "BITFIELD", key()));
        for (int i = random.nextInt(5); i > 0; i--) {
            switch (random.nextInt(readOnly ? 4 : 9)) {
                case 0, 1, 2 -> words.addAll(List.of(one("GET", "get"), type(), oneIn(8) ? one(FAR) : fieldOffset()));
                case 3, 4 -> words.addAll(List.of("OVERFLOW", oneIn(15) ? "foo" : one("WRAP", "SAT", "FAIL", "sat")));
                case 5, 6 -> words.addAll(List.of("SET", type(), fieldOffset(), number()));
                default -> words.addAll(List.of("INCRBY", type(), fieldOffset(), number()));
            }
        }
        add(words.toArray(String[]::new));
    }

    private String type() {
        return oneIn(25)
                ? one(WRONG_TYPES)
                : oneIn(2)
                        ? one("u1", "i1", "u8", "i8", "u16", "i16", "u63", "i63", "i64", "i2", "u2")
                        : one("u", "i") + (1 + random.nextInt(63));
    }

    private String fieldOffset() {
        return oneIn(3) ? "#" + random.nextInt(6) : offset();
    }

    private String number() {
        return oneIn(2) ? Integer.toString(random.nextInt(-300, 300)) : one(NUMBERS);
    }
}
