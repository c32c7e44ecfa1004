package io.varve.lua.lib;

import java.util.Random;

/** Random MessagePack, some of it damaged. Confined to one thread. */
final class MessagePackTexts {
    private final Random random;
    private final StringBuilder text = new StringBuilder();

    MessagePackTexts(Random random) {
        this.random = random;
    }

    /** One value, or several ones that may be damaged. */
    String text(boolean whole) {
        value(4);
        if (!whole) {
            for (int i = random.nextInt(3); i > 0; i--) {
                value(2);
            }
            if (random.nextInt(4) == 0) {
                text.setLength(random.nextInt(text.length() + 1));
            } else if (random.nextInt(4) == 0) {
                text.setCharAt(random.nextInt(text.length()), (char) random.nextInt(256));
            }
        }
        return text.toString();
    }

    private void value(int depth) {
        switch (random.nextInt(depth > 0 ? 14 : 10)) {
            case 0 -> bytes(random.nextInt(128));
            case 1 -> bytes(0xe0 + random.nextInt(32));
            case 2 -> bytes(0xc2 + random.nextInt(2));
            case 3 -> {
                bytes(0xcc + random.nextInt(4));
                random(1 << text.charAt(text.length() - 1) - 0xcc);
            }
            case 4 -> {
                bytes(0xd0 + random.nextInt(4));
                random(1 << text.charAt(text.length() - 1) - 0xd0);
            }
            case 5 -> {
                bytes(0xcb);
                long bits = Double.doubleToRawLongBits(random.nextInt(1000) / 8.0);
                for (int shift = 56; shift >= 0; shift -= 8) {
                    bytes((int) (bits >>> shift) & 0xff);
                }
            }
            case 6, 7, 8, 9 -> string();
            case 10 -> {
                int count = random.nextInt(7);
                bytes(0x90 + count);
                for (int i = 0; i < count; i++) {
                    value(depth - 1);
                }
            }
            case 11 -> {
                int count = random.nextInt(20);
                bytes(0xdc, 0, count);
                for (int i = 0; i < count; i++) {
                    value(depth - 2);
                }
            }
            default -> map(depth);
        }
    }

    private void map(int depth) {
        int count = random.nextInt(7);
        if (random.nextBoolean()) {
            bytes(0x80 + count);
        } else {
            bytes(0xde, 0, count);
        }
        for (int i = 0; i < count; i++) {
            switch (random.nextInt(6)) {
                case 0, 1 -> bytes(1 + random.nextInt(6));
                case 2 -> value(0);
                default -> string();
            }
            value(depth - 1);
        }
    }

    private void string() {
        int length = random.nextInt(6);
        switch (random.nextInt(4)) {
            case 0 -> bytes(0xd9, length);
            case 1 -> bytes(0xda, 0, length);
            default -> bytes(0xa0 + length);
        }
        for (int i = 0; i < length; i++) {
            bytes('a' + random.nextInt(26));
        }
    }

    private void random(int count) {
        for (int i = 0; i < count; i++) {
            bytes(random.nextInt(256));
        }
    }

    private void bytes(int... values) {
        for (int value : values) {
            text.append((char) value);
        }
    }
}
