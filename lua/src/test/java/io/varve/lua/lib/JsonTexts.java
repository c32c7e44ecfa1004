package io.varve.lua.lib;

import java.util.Random;

/** Random JSON texts, some of them damaged. Confined to one thread. */
final class JsonTexts {
    private final Random random;
    private final StringBuilder text = new StringBuilder();

    JsonTexts(Random random) {
        this.random = random;
    }

    String text() {
        value(4);
        if (random.nextInt(3) == 0) {
            int at = random.nextInt(text.length() + 1);
            String[] damage = {"", "\0", "x", ",", "}", "]", "\"", " ", "\\", "1", ":", "\u00e9", "+", "nan", "tru"};
            text.insert(at, damage[random.nextInt(damage.length)]);
            if (random.nextBoolean() && !text.isEmpty()) {
                text.deleteCharAt(random.nextInt(text.length()));
            }
        }
        return text.toString();
    }

    private void value(int depth) {
        space();
        switch (random.nextInt(depth > 0 ? 9 : 6)) {
            case 0 -> text.append(pick("true", "false", "null"));
            case 1 -> text.append(random.nextInt(1000));
            case 2 -> text.append(pick("0", "-0", "1e5", "-1.5E-3", "0.1", "1e400", "0x1F", "007", "+3", "Infinity",
                    "-inf", "NaN", "12345678901234567890", "1.", "-", "1e", "5e-324", "-nan", "0x",
                    "1.7976931348623157e308"));
            case 3, 4, 5 -> string();
            case 6, 7 -> {
                text.append('{');
                int count = random.nextInt(6);
                for (int i = 0; i < count; i++) {
                    text.append(i > 0 ? "," : "");
                    space();
                    string();
                    space();
                    text.append(':');
                    value(depth - 1);
                }
                space();
                text.append('}');
            }
            default -> {
                text.append('[');
                int count = random.nextInt(6);
                for (int i = 0; i < count; i++) {
                    text.append(i > 0 ? "," : "");
                    value(depth - 1);
                }
                space();
                text.append(']');
            }
        }
        space();
    }

    private String pick(String... values) {
        return values[random.nextInt(values.length)];
    }

    private void space() {
        if (random.nextInt(6) == 0) {
            text.append(pick(" ", "\t", "\n", "\r", "  "));
        }
    }

    private void string() {
        text.append('"');
        for (int i = random.nextInt(6); i > 0; i--) {
            if (random.nextInt(5) == 0) {
                text.append(pick("\\n", "\\\"", "\\\\", "\\/", "\\b", "\\u0041", "\\u00e9", "\\u20ac", "\\ud83d\\ude00",
                        "\\u0000", "\\uD800", "\\udc00", "\\x", "\\u12", "\\ud83dx", "\\ud83d\\u0041"));
            } else {
                text.append((char) (random.nextInt(8) == 0 ? 1 + random.nextInt(255) : 'a' + random.nextInt(26)));
            }
        }
        text.append('"');
    }
}
