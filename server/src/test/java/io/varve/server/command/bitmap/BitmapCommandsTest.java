package io.varve.server.command.bitmap;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.command.HarnessTest;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Commands on the bits of strings: their replies, and random commands compared with arrays and large integers. Confined
 * to the test's thread.
 */
class BitmapCommandsTest extends HarnessTest {
    private long integer(String... command) {
        return Long.parseLong(execute(command).substring(1));
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"SETBIT b 7 1; :0", "SETBIT s 1 0; :1", "SETBIT l 1 1; -W",
            "SETBIT s 7 2; -ERR bit is not an integer or out of range",
            "SETBIT s x 2; -ERR bit offset is not an integer or out of range",
            "SETBIT s -1 1; -ERR bit offset is not an integer or out of range",
            "SETBIT s 4294967296 1; -ERR bit offset is not an integer or out of range",
            "GETBIT s 1; :1", "GETBIT s 4294967295; :0", "GETBIT missing 1; :0", "GETBIT l 1; -W",
            "GETBIT s 4294967296; -ERR bit offset is not an integer or out of range", "BITCOUNT s; :26",
            "BITCOUNT s 0 0; :4", "BITCOUNT s 1 1; :6", "BITCOUNT s 0 -1 BIT; :26", "BITCOUNT s 5 30 BIT; :17",
            "BITCOUNT s 0; -ERR syntax error", "BITCOUNT s 0 1 foo; -ERR syntax error", "BITCOUNT missing x; :0",
            "BITCOUNT l x; -W", "BITCOUNT s x 1; -ERR value is not an integer or out of range",
            "BITCOUNT s -1 -5 foo; :0", "BITCOUNT s 9223372036854775807 -9223372036854775808; :0",
            "BITCOUNT s -9223372036854775808 9223372036854775807 BIT; :26", "BITPOS s 1; :1", "BITPOS s 0; :0",
            "BITPOS s 2; -ERR The bit argument must be 1 or 0.", "BITPOS missing 1; :-1", "BITPOS missing 0 x; :0",
            "BITPOS l 1; -W", "BITPOS s 1 2; :17", "BITPOS s 1 2 -1 BIT; :2", "BITPOS s 1 2 -1 foo; -ERR syntax error",
            "BITPOS s 1 0 1 BIT x; -ERR syntax error", "BITPOS ones 0; :16", "BITPOS ones 0 0 -1; :-1",
            "BITPOS ones 0 1; :16", "BITPOS ones 0 2; :-1", "BITPOS ones 0 0 8 BIT; :-1", "BITOP AND d s ones; :6",
            "BITOP NOT d s; :6", "BITOP NOT d s s; -ERR BITOP NOT must be called with a single source key.",
            "BITOP foo d s; -ERR syntax error", "BITOP OR d missing l; -W", "BITOP XOR s missing; :0",
            "BITFIELD s; *0", "BITFIELD missing GET u8 0; *1 :0", "BITFIELD s GET u8 #1 GET i4 0; *2 :111 :6",
            "BITFIELD s SET i8 0 -1 GET u8 0; *2 :102 :255", "BITFIELD s INCRBY u8 0 300; *1 :146",
            "BITFIELD s OVERFLOW SAT INCRBY u8 0 300 OVERFLOW FAIL INCRBY u8 0 1; *2 :255 $-1",
            "BITFIELD s GET u64 0; -ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported "
                    + "but i64 is.",
            "BITFIELD s OVERFLOW x; -ERR Invalid OVERFLOW type specified", "BITFIELD s GET u8; -ERR syntax error",
            "BITFIELD l SET u8 0 1; -W", "BITFIELD s SET u8 0 x; -ERR value is not an integer or out of range",
            "BITFIELD_RO s GET u8 0; *1 :102",
            "BITFIELD_RO s SET u8 0 1; -ERR BITFIELD_RO only supports the GET subcommand"})
    void repliesAreThoseOfRedis(String command, String reply) {
        server.run("SET s foobar");
        server.run("SADD l x");
        server.run("SET", "ones", "\u00ff\u00ff");
        assertThat(execute(command.split(" "))).isEqualTo(reply.equals("-W")
                ? "-WRONGTYPE Operation against a key holding the wrong kind of value"
                : reply);
    }

    @Test
    void failedIncrementsAreNullsInResp3() {
        server.run("HELLO 3");
        assertThat(execute("BITFIELD", "b", "OVERFLOW", "FAIL", "INCRBY", "u2", "0", "9")).isEqualTo("*1 _");
    }

    @Test
    void writingBitsMakesTheStringRawAndKeepsItsTtl() {
        server.run("SET n 123 EX 1000");
        server.run("SETBIT n 0 0");
        assertThat(execute("OBJECT", "ENCODING", "n")).isEqualTo("$3 raw");
        assertThat(execute("TTL", "n")).isEqualTo(":1000");
        server.run("BITOP OR n n missing");
        assertThat(execute("GET", "n")).isEqualTo("$3 123");
        assertThat(execute("TTL", "n")).isEqualTo(":-1");
    }

    @Test
    void randomBitsAreThoseOfAnArray() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        boolean[] bits = new boolean[704];
        int length = 0;
        for (int step = 0; step < 3_000; step++) {
            int at = random.nextInt(random.nextInt(10) == 0 ? bits.length : 80);
            boolean bit = random.nextBoolean();
            assertThat(integer("SETBIT", "b", "" + at, bit ? "1" : "0")).isEqualTo(bits[at] ? 1 : 0);
            bits[at] = bit;
            length = Math.max(length, at / 8 * 8 + 8);
            int first = random.nextInt(length);
            int last = random.nextInt(length);
            int set = 0;
            int firstSet = -1;
            int firstClear = -1;
            for (int i = first; i <= last; i++) {
                set += bits[i] ? 1 : 0;
                firstSet = bits[i] && firstSet < 0 ? i : firstSet;
                firstClear = !bits[i] && firstClear < 0 ? i : firstClear;
            }
            assertThat(integer("BITCOUNT", "b", "" + first, "" + last, "BIT")).isEqualTo(set);
            assertThat(integer("BITPOS", "b", "1", "" + first, "" + last, "BIT")).isEqualTo(firstSet);
            assertThat(integer("BITPOS", "b", "0", "" + first, "" + last, "BIT")).isEqualTo(firstClear);
        }
        assertThat(integer("STRLEN", "b")).isEqualTo(length / 8);
    }

    @Test
    void longRunsAreCountedAndSearchedWordByWord() {
        server.run("SETBIT b 100000 0");
        assertThat(integer("BITPOS", "b", "1")).isEqualTo(-1);
        server.run("SETBIT b 65537 1");
        for (int from = 0; from <= 65_537; from += 6_551) {
            assertThat(integer("BITPOS", "b", "1", "" + from, "-1", "BIT")).isEqualTo(65_537);
        }
        assertThat(integer("BITCOUNT", "b")).isEqualTo(1);
        server.run("BITOP NOT c b");
        assertThat(integer("BITCOUNT", "c")).isEqualTo(12_501 * 8 - 1);
        assertThat(integer("BITPOS", "c", "0")).isEqualTo(65_537);
        assertThat(integer("BITOP", "XOR", "d", "b", "c")).isEqualTo(12_501);
        assertThat(integer("BITPOS", "d", "0", "0", "-1")).isEqualTo(-1);
        assertThat(integer("BITPOS", "d", "0")).isEqualTo(12_501 * 8);
    }

    // --- BITOP

    @Test
    void randomOperationsAreThoseOfBytes() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int step = 0; step < 400; step++) {
            List<byte[]> sources = new ArrayList<>();
            List<String> words = new ArrayList<>(List.of("BITOP", "", random.nextInt(3) == 0 ? "k1" : "target"));
            int count = 1 + random.nextInt(4);
            int longest = 0;
            for (int i = 0; i < count; i++) {
                byte[] bytes = new byte[random.nextInt(5) == 0 ? random.nextInt(9_000) : random.nextInt(40)];
                random.nextBytes(bytes);
                sources.add(bytes);
                server.run("SET", "k" + i, latin(bytes));
                words.add("k" + i);
                longest = Math.max(longest, bytes.length);
            }
            String operation = count == 1 && random.nextBoolean()
                    ? "NOT"
                    : List.of("AND", "OR", "XOR")
                            .get(random.nextInt(3));
            words.set(1, operation);
            byte[] expected = new byte[longest];
            for (int i = 0; i < longest; i++) {
                expected[i] = (byte) combined(operation, sources, i);
            }
            assertThat(integer(words.toArray(String[]::new))).isEqualTo(longest);
            String reply = server.run("GET", words.get(2));
            assertThat(reply).as("%s, seed %d", operation, seed)
                    .isEqualTo(longest == 0 ? "$-1\r\n" : "$" + longest + "\r\n" + latin(expected) + "\r\n");
        }
    }

    private static int combined(String operation, List<byte[]> sources, int at) {
        int result = byteAt(sources.getFirst(), at);
        for (byte[] other : sources.subList(1, sources.size())) {
            result = switch (operation) {
                case "AND" -> result & byteAt(other, at);
                case "OR" -> result | byteAt(other, at);
                default -> result ^ byteAt(other, at);
            };
        }
        return operation.equals("NOT") ? ~result : result;
    }

    private static int byteAt(byte[] bytes, int at) {
        return at < bytes.length ? bytes[at] : 0;
    }

    private static String latin(byte[] bytes) {
        return new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    // --- BITFIELD

    @Test
    void randomFieldsAreThoseOfLargeIntegers() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        int length = 24;
        server.run("SETRANGE", "b", "" + (length - 1), "\0");
        BigInteger model = BigInteger.ZERO;
        for (int step = 0; step < 5_000; step++) {
            boolean signed = random.nextBoolean();
            int bits = 1 + random.nextInt(signed ? 64 : 63);
            int offset = random.nextInt(length * 8 - bits + 1);
            int shift = length * 8 - offset - bits;
            String type = (signed ? "i" : "u") + bits;
            BigInteger span = BigInteger.ONE.shiftLeft(bits);
            BigInteger stored = model.shiftRight(shift).mod(span);
            BigInteger old = signed && stored.testBit(bits - 1) ? stored.subtract(span) : stored;
            boolean set = random.nextInt(3) == 0;
            long number = switch (random.nextInt(4)) {
                case 0 -> random.nextLong();
                case 1 -> random.nextBoolean() ? Long.MIN_VALUE : Long.MAX_VALUE;
                default -> random.nextInt(-100, 100);
            };
            String overflow = List.of("WRAP", "SAT", "FAIL").get(random.nextInt(3));
            BigInteger given = BigInteger.valueOf(number);
            // SET takes a negative number for an unsigned field as one of 64 bits.
            BigInteger wanted = !set
                    ? old.add(given)
                    : !signed && number < 0 ? given.add(BigInteger.ONE.shiftLeft(64)) : given;
            BigInteger min = signed ? span.shiftRight(1).negate() : BigInteger.ZERO;
            BigInteger greatest = min.add(span).subtract(BigInteger.ONE);
            boolean fits = wanted.compareTo(min) >= 0 && wanted.compareTo(greatest) <= 0;
            BigInteger written = fits
                    ? wanted
                    : overflow.equals("SAT")
                            ? wanted.signum() < 0 && !isTakenForLarge(set, given, greatest) ? min : greatest
                            : wrapped(wanted, span, signed, bits);
            String reply = execute("BITFIELD", "b", "OVERFLOW", overflow, set ? "SET" : "INCRBY", type, "" + offset,
                    "" + number);
            if (!fits && overflow.equals("FAIL")) {
                assertThat(reply).as("seed %d step %d", seed, step).isEqualTo("*1 $-1");
                written = old;
            } else {
                assertThat(reply).as("seed %d step %d", seed, step).isEqualTo("*1 :" + (set ? old : written));
            }
            model = model.subtract(stored.shiftLeft(shift)).add(written.mod(span).shiftLeft(shift));
            assertThat(execute("BITFIELD_RO", "b", "GET", type, "" + offset)).isEqualTo("*1 :" + written);
        }
    }

    /** Redis's SET takes a number for too large whose distance from the greatest one has more than 63 bits. */
    private static boolean isTakenForLarge(boolean set, BigInteger given, BigInteger greatest) {
        return set && greatest.bitLength() < 63 && greatest.subtract(given).bitLength() > 63;
    }

    private static BigInteger wrapped(BigInteger wanted, BigInteger span, boolean signed, int bits) {
        BigInteger low = wanted.mod(span);
        return signed && low.testBit(bits - 1) ? low.subtract(span) : low;
    }
}
