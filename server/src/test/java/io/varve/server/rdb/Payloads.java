package io.varve.server.rdb;

import java.nio.charset.StandardCharsets;

/** Builds payloads by hand, as ISO 8859-1: each char is a byte. Immutable: static methods only. */
public final class Payloads {
    private Payloads() {}

    /** A payload with a footer that is right. */
    public static String payload(int type, String value) {
        return withFooter((char) type + value, 10);
    }

    /** A payload's content, with version and checksum behind it. */
    public static String withFooter(String typeAndValue, int version) {
        String summed = typeAndValue + little(version, 2);
        return summed + little(checksum(summed), 8);
    }

    /** The checksum, bit by bit. */
    public static long checksum(String text) {
        long crc = 0;
        for (byte b : text.getBytes(StandardCharsets.ISO_8859_1)) {
            for (int i = 0; i < 8; i++) {
                boolean bit = crc < 0 ^ (b >> i & 1) != 0;
                crc = crc << 1 ^ (bit ? 0xAD93D23594C935A9L : 0);
            }
        }
        return Long.reverse(crc);
    }

    /** A number of so many bytes, the lowest first. */
    public static String little(long value, int bytes) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < bytes; i++) {
            text.append((char) (value >>> 8 * i & 0xFF));
        }
        return text.toString();
    }

    private static String big(long value, int bytes) {
        return new StringBuilder(little(value, bytes)).reverse().toString();
    }

    /** A length or a count. */
    public static String length(long length) {
        return length < 64
                ? little(length, 1)
                : length < 1 << 14 ? big(0x4000 | length, 2) : "\u0080" + big(length, 4);
    }

    /** A string, or several. */
    public static String texts(String... texts) {
        StringBuilder all = new StringBuilder();
        for (String text : texts) {
            all.append(length(text.length())).append(text);
        }
        return all.toString();
    }

    /** A ziplist as a string; words that are numbers are written as such. */
    public static String ziplist(String... words) {
        StringBuilder entries = new StringBuilder();
        int inFront = 0;
        int last = 10;
        for (String word : words) {
            String entry = (inFront < 254 ? little(inFront, 1) : "\u00fe" + little(inFront, 4)) + ziplistEntry(word);
            last = 10 + entries.length();
            entries.append(entry);
            inFront = entry.length();
        }
        return texts(little(11 + entries.length(), 4) + little(last, 4) + little(words.length, 2) + entries + '\u00ff');
    }

    private static String ziplistEntry(String word) {
        if (word.matches("-?(0|[1-9][0-9]{0,17})") && !word.equals("-0")) {
            long value = Long.parseLong(word);
            if (value >= 0 && value <= 12) {
                return little(0xF1 + value, 1);
            }
            return value == (byte) value
                    ? "\u00fe" + little(value, 1)
                    : value == (short) value
                            ? "\u00c0" + little(value, 2)
                            : value >= -(1 << 23) && value < 1 << 23
                                    ? "\u00f0" + little(value, 3)
                                    : value == (int) value
                                            ? "\u00d0" + little(value, 4)
                                            : "\u00e0" + little(value, 8);
        }
        int length = word.length();
        return (length < 64
                ? little(length, 1)
                : length < 1 << 14 ? big(0x4000 | length, 2) : "\u0080" + big(length, 4)) + word;
    }

    /** A listpack as a string; all of its entries are strings. */
    public static String listpack(String... words) {
        StringBuilder entries = new StringBuilder();
        for (String word : words) {
            int length = word.length();
            String entry = (length < 64
                    ? little(0x80 | length, 1)
                    : length < 1 << 12 ? big(0xE000 | length, 2) : "\u00f0" + little(length, 4)) + word;
            entries.append(entry).append(entryLength(entry.length()));
        }
        return texts(little(7 + entries.length(), 4) + little(words.length, 2) + entries + '\u00ff');
    }

    private static String entryLength(int length) {
        return length <= 127
                ? little(length, 1)
                : length < 16383
                        ? little(length >> 7, 1) + little(length & 127 | 128, 1)
                        : little(length >> 14, 1) + little(length >> 7 & 127 | 128, 1) + little(length & 127 | 128, 1);
    }

    /** A zipmap as a string. */
    public static String zipmap(String... words) {
        StringBuilder map = new StringBuilder(little(words.length / 2, 1));
        for (int i = 0; i < words.length; i++) {
            int length = words[i].length();
            map.append(length < 254 ? little(length, 1) : "\u00fe" + little(length, 4));
            // Two bytes behind each value are not used.
            map.append(i % 2 == 0 ? words[i] : '\u0002' + words[i] + "xx");
        }
        return texts(map.append('\u00ff').toString());
    }

    /** Integers of one width as a string. */
    public static String integers(int width, long... values) {
        StringBuilder all = new StringBuilder(little(width, 4) + little(values.length, 4));
        for (long value : values) {
            all.append(little(value, width));
        }
        return texts(all.toString());
    }

    /**
     * A stream: a block with a deleted entry 5-0 and an entry 6-0, and a group in which 6-0 is pending.
     *
     * @param type 15, 19 or 21
     */
    public static String stream(int type) {
        String master = small(1, 1, 1) + word("f") + small(0);
        String deleted = small(3, 0, 0) + word("v") + small(4);
        String entry = small(0, 1, 0, 1) + word("g") + word("w") + small(6);
        String elements = master + deleted + entry;
        String numbers = length(1) + length(7) + length(0);
        if (type != 15) {
            numbers += length(6) + length(0) + length(5) + length(0) + length(2);
        }
        return length(1) + texts(id(5), little(7 + elements.length(), 4) + little(17, 2) + elements + '\u00ff')
                + numbers + length(1) + group(type, "group", "me");
    }

    private static String group(int type, String name, String consumer) {
        return texts(name) + length(6) + length(0) + (type == 15 ? "" : length(2)) + length(1) + id(6)
                + little(1000, 8) + length(3) + length(1) + texts(consumer) + little(1100, 8)
                + (type == 21 ? little(900, 8) : "") + length(1) + id(6);
    }

    /** An ID with the sequence number 0. */
    private static String id(long ms) {
        return big(ms, 8) + big(0, 8);
    }

    /** Elements of a listpack: numbers up to 127. */
    private static String small(int... numbers) {
        StringBuilder elements = new StringBuilder();
        for (int number : numbers) {
            elements.append((char) number).append('\u0001');
        }
        return elements.toString();
    }

    /** An element of a listpack: a short text. */
    private static String word(String text) {
        return little(0x80 | text.length(), 1) + text + little(1 + text.length(), 1);
    }
}
