package io.varve.server.persistence;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzRun;
import io.varve.server.fuzz.GuardedMemory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads any bytes as a file of the log: all of its commands, or those in front of a torn end, or damage at an offset.
 * Confined to the test's thread.
 *
 * <p>An input is a byte of flags, then a byte with a number of bytes, and two bytes with an offset, for the flags that
 * say so, and then the file. With {@link #BLOCKS}, each byte 1 begins a block instead, of the bytes after the next one;
 * its first line is written for it, so that its length and checksum are right.
 */
public class LogReaderFuzzTest {
    /** The file is the last one of its log. */
    private static final int LAST = 1;
    private static final int BLOCKS = 2;
    /** So many bytes are missing at the end. */
    private static final int CUT = 4;
    /** The byte at the offset is another one. */
    private static final int DAMAGE = 8;
    private static final int HEAD_BYTES = 4;
    private static final int BLOCK = 1;
    private static final String MARK = "0123456789abcdef";
    private static final String FIRST_LINE = IncrementFile.HEAD + MARK + "\r\n";

    /** A block that does not begin with a line. */
    private static final Pattern WITHIN_LINE = Pattern.compile("[^\n]" + IncrementFile.BLOCK);

    private static final String SET = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
    private static final String MULTI = "*1\r\n$5\r\nMULTI\r\n";
    private static final String EXEC = "*1\r\n$4\r\nexec\r\n";
    private static final String SELECT = "*2\r\n$6\r\nSELECT\r\n$1\r\n9\r\n";

    private static final Path NAME = Path.of("log.1.incr.aof");
    private static final GuardedMemory FILE = new GuardedMemory(1 << 17);

    @AfterAll
    public static void fuzzerTearDown() {
        FILE.close();
    }

    @Test
    void anyFileIsReadToItsEndOrCutOrRefused() {
        new FuzzRun(fuzzCase()).run();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        String blocks = "\u0001\0#T:1700000000000\r\n" + SELECT + SET + "\u0001\u0001#TS:1700000000\r\n" + MULTI + SET
                + SET + EXEC + "\u0001\u0002" + SET + "#T:5\r\n" + SET;
        String redis = "#TS:1700000000\r\n" + SELECT + SET + MULTI + SET + EXEC + "#TS:1700000001\r\n" + SET;
        List<String> seeds = new ArrayList<>();
        for (int flags : new int[] {0, LAST, LAST | CUT, LAST | DAMAGE, CUT, DAMAGE}) {
            seeds.add((char) (flags | BLOCKS) + "\u0007\0\u0090" + blocks);
            seeds.add((char) flags + "\u0007\0 " + redis);
        }
        // Redis goes on in a file of Varve's.
        seeds.add((char) (LAST | BLOCKS) + "\0\0\0" + "\u0001\0" + SET + "\u0001\u0003" + redis);
        seeds.add((char) LAST + "\0\0\0" + FIRST_LINE + block(SET, 0) + SET);
        return new FuzzCase(LogReaderFuzzTest.class, LogReaderFuzzTest::fuzzerTestOneInput, seeds,
                List.of("\u0001\0", "\u0001\u0001", "\u0001\u0003", "\r\n", "\n", "#", "#T:", "#TS:", "#B:",
                        "#VARVE:1:",
                        "#T:9223372036854775807\r\n", "#T:-1\r\n", "*", "$", "*1\r\n", "$0\r\n\r\n", "$-1\r\n",
                        "*0\r\n",
                        "*2147483647\r\n", "$2147483647\r\n", "99999999999999999999", MARK, FIRST_LINE, SET, MULTI,
                        EXEC,
                        SELECT, block(SET, 0), block(SET, FIRST_LINE.length()), "\0\0\0\0"));
    }

    private static String block(String commands, long forced) {
        byte[] bytes = commands.getBytes(StandardCharsets.ISO_8859_1);
        return line(bytes, forced) + commands;
    }

    private static String line(byte[] commands, long forced) {
        CRC32C checksum = new CRC32C();
        checksum.update(commands);
        return IncrementFile.BLOCK + MARK + ":" + commands.length + ":" + Long.toHexString(checksum.getValue()) + ":"
                + forced + "\r\n";
    }

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length < HEAD_BYTES) {
            return;
        }
        int flags = input[0];
        boolean isLast = (flags & LAST) != 0;
        byte[] content = Arrays.copyOfRange(input, HEAD_BYTES, input.length);
        ByteArrayOutputStream bodies = new ByteArrayOutputStream();
        byte[] file = (flags & BLOCKS) != 0 ? withBlocks(content, bodies) : content;
        boolean isIntact = true;
        if ((flags & CUT) != 0) {
            file = Arrays.copyOf(file, Math.max(0, file.length - (input[1] & 0xff)));
            isIntact = false;
        }
        int at = (input[2] & 0xff) << Byte.SIZE | input[3] & 0xff;
        if ((flags & DAMAGE) != 0 && at < file.length) {
            file[at] ^= (byte) (1 + (input[1] & 0x7f));
            isIntact = false;
        }
        Result result = read(file, isLast, (byte) 0);
        assertThat(read(file, isLast, (byte) 0xff)).isEqualTo(result);
        check(file, isLast, result);
        // A file without blocks must not have lines that look like those of blocks, and each block begins with a line.
        String plain = bodies.toString(StandardCharsets.ISO_8859_1);
        boolean isPlain = !plain.contains(IncrementFile.BLOCK) && !plain.startsWith("#VARVE")
                && !WITHIN_LINE.matcher(new String(file, StandardCharsets.ISO_8859_1)).find();
        if (isIntact && isPlain && (flags & BLOCKS) != 0 && result.isComplete()) {
            assertThat(read(bodies.toByteArray(), false, (byte) 0).commands).isEqualTo(result.commands);
        }
    }

    /**
     * A file of blocks.
     *
     * @param bodies receives the same commands without blocks
     */
    private static byte[] withBlocks(byte[] content, ByteArrayOutputStream bodies) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(FIRST_LINE.getBytes(StandardCharsets.ISO_8859_1));
        int i = 0;
        while (i < content.length) {
            if (content[i] != BLOCK || i + 1 == content.length) {
                bodies.write(content[i]);
                file.write(content[i++]);
                continue;
            }
            int kind = content[i + 1];
            int from = i + 2;
            int to = from;
            while (to < content.length && content[to] != BLOCK) {
                to++;
            }
            byte[] body = Arrays.copyOfRange(content, from, to);
            bodies.writeBytes(body);
            if (kind != 3) {
                long forced = kind == 0 ? 0 : kind == 1 ? file.size() : kind & 0xff;
                file.writeBytes(line(body, forced).getBytes(StandardCharsets.ISO_8859_1));
            }
            file.writeBytes(body);
            i = to;
        }
        return file.toByteArray();
    }

    /**
     * The result of reading a file.
     *
     * @param damage where it is damaged; negative if it is not
     * @param intact bytes that would be a complete file
     */
    private record Result(List<List<String>> commands, List<Long> times, long damage, String message, long torn,
            long intact, long intactCommands) {
        boolean isComplete() {
            return damage < 0 && torn == 0;
        }
    }

    private static Result read(byte[] file, boolean isLast, byte around) {
        MemorySegment bytes = FILE.segment(file, around);
        RecordedRequests requests = new RecordedRequests();
        List<Long> times = new ArrayList<>();
        LogReader reader = null;
        try {
            reader = new LogReader(NAME, bytes, 0, isLast);
            while (reader.read(requests)) {
                while (times.size() < requests.all().size()) {
                    times.add(reader.timeMillis());
                }
            }
            assertThat(reader.commands()).isEqualTo(requests.all().size());
            assertThat(reader.offset() + reader.tornBytes()).isEqualTo(file.length);
            long behind = reader.tornBytes() > 0 ? commandsBehind(reader, reader.stoppedAt(), file.length) : 0;
            return new Result(requests.all(), times, -1, "torn at " + reader.stoppedAt() + ", behind " + behind,
                    reader.tornBytes(), reader.intactBytes(), reader.intactCommands());
        } catch (LogException damaged) {
            String behind = reader == null ? "" : ", behind " + commandsBehind(reader, damaged.offset(), file.length);
            return new Result(requests.all(), times, damaged.offset(), damaged.getMessage() + behind, 0,
                    reader == null ? 0 : reader.intactBytes(), reader == null ? 0 : reader.intactCommands());
        }
    }

    private static long commandsBehind(LogReader reader, long damage, long length) {
        LogReader behind = reader.behind(damage);
        if (behind == null) {
            return 0;
        }
        assertThat(behind.offset()).isBetween(damage + 1, length);
        try {
            while (behind.read(new RecordedRequests())) {
                assertThat(behind.offset()).isBetween(damage + 1, length);
            }
            return behind.commands();
        } catch (LogException damagedToo) {
            assertThat(damagedToo.offset()).isBetween(damage + 1, length);
            return behind.commands();
        }
    }

    private static void check(byte[] file, boolean isLast, Result result) {
        if (result.damage >= 0) {
            assertThat(result.damage).isLessThanOrEqualTo(file.length);
            assertThat(result.message).startsWith(NAME + ", byte " + result.damage + ": ");
        } else {
            assertThat(result.torn).isBetween(0L, isLast ? file.length : 0L);
            // The start after this one finds a complete file, with the same commands.
            Result cut = prefix(file, file.length - result.torn);
            assertThat(cut.isComplete()).as("%s, without it %s", result, cut).isTrue();
            assertThat(cut.commands).isEqualTo(result.commands.subList(0, cut.commands.size()));
            assertThat(withoutOpenTransaction(result.commands)).isEqualTo(withoutOpenTransaction(cut.commands));
        }
        if (result.intact > 0 || result.damage < 0) {
            assertThat(result.intact).isLessThanOrEqualTo(file.length - result.torn);
            Result intact = prefix(file, result.intact);
            assertThat(intact.isComplete()).as("%s, its intact bytes %s", result, intact).isTrue();
            assertThat(intact.commands).isEqualTo(result.commands.subList(0, (int) result.intactCommands));
        }
    }

    private static Result prefix(byte[] file, long length) {
        return read(Arrays.copyOf(file, (int) length), false, (byte) 0);
    }

    /** The commands that have an effect. */
    private static List<List<String>> withoutOpenTransaction(List<List<String>> commands) {
        Integer open = null;
        for (int i = 0; i < commands.size(); i++) {
            if (isAlone(commands.get(i), "MULTI") && open == null) {
                open = i;
            } else if (isAlone(commands.get(i), "EXEC")) {
                open = null;
            }
        }
        return open == null ? commands : commands.subList(0, open);
    }

    private static boolean isAlone(List<String> command, String name) {
        return command.size() == 1 && command.getFirst().equalsIgnoreCase(name);
    }
}
