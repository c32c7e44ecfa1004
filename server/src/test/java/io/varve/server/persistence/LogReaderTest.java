package io.varve.server.persistence;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32C;

import io.varve.server.system.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Files of the log, whole and damaged. Confined to the test's thread. */
class LogReaderTest {
    private static final String SET_A = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
    private static final String SET_B = "*3\r\n$3\r\nset\r\n$1\r\nb\r\n$1\r\n2\r\n";
    private static final String MULTI = "*1\r\n$5\r\nMULTI\r\n";
    private static final String EXEC = "*1\r\n$4\r\nEXEC\r\n";
    private static final String MARK = "0123456789abcdef";
    private static final String HEAD = IncrementFile.HEAD + MARK + "\r\n";
    private static final List<String> A = List.of("SET", "a", "1");
    private static final List<String> B = List.of("set", "b", "2");

    @TempDir
    Path folder;

    /** The content of a file. */
    private record Read(List<List<String>> commands, long torn, List<Long> times) {}

    private Read read(String content, boolean mayBeTorn) throws IOException {
        Path file = folder.resolve("log");
        byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
        try (NativeMemory memory = new NativeMemory()) {
            var mapped = memory.allocate(Math.max(1, bytes.length)).asSlice(0, bytes.length);
            mapped.copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes));
            LogReader reader = new LogReader(file, mapped, 0, mayBeTorn);
            RecordedRequests requests = new RecordedRequests();
            List<Long> times = new java.util.ArrayList<>();
            int before = 0;
            while (reader.read(requests)) {
                for (; before < requests.all().size(); before++) {
                    times.add(reader.timeMillis());
                }
            }
            return new Read(requests.all(), reader.tornBytes(), times);
        }
    }

    private static String block(String commands, long forced) {
        CRC32C checksum = new CRC32C();
        checksum.update(commands.getBytes(StandardCharsets.ISO_8859_1));
        return IncrementFile.BLOCK + MARK + ":" + commands.length() + ":" + Long.toHexString(checksum.getValue()) + ":"
                + forced
                + "\r\n" + commands;
    }

    @Test
    void blocksHaveCommandsWithTheirTimes() throws IOException {
        Read read = read(HEAD + block("#T:5\r\n" + SET_A, 0) + block(SET_B + "#T:7\r\n" + SET_A, 9),
                false);
        assertThat(read.commands).containsExactly(A, B, A);
        assertThat(read.times).containsExactly(5L, 5L, 7L);
        assertThat(read.torn).isZero();
    }

    @Test
    void filesOfRedisHaveCommandsAndLinesForPeople() throws IOException {
        Read read = read(SET_A + "#TS:1700000000\r\n" + MULTI + SET_B + EXEC, true);
        assertThat(read.commands).containsExactly(A, List.of("MULTI"), B, List.of("EXEC"));
        assertThat(read.times).containsOnly(-1L);
    }

    /** Redis appends to the last file of a log that it has loaded. */
    @Test
    void filesOfVarveThatRedisHasGoneOnWith_haveBoth() throws IOException {
        String both = HEAD + block("#T:5\r\n" + SET_A, 0) + SET_B + MULTI + SET_A + EXEC;
        assertThat(read(both, true).commands).containsExactly(A, B, List.of("MULTI"), A, List.of("EXEC"));
        assertThat(read(both + SET_B.substring(0, 20), true).torn).isEqualTo(20);
        assertThat(read(HEAD + block(SET_A, 0) + "#TS:1\r\n" + SET_B, true).commands).containsExactly(A, B);
    }

    @Test
    void emptyFilesHaveNothing() throws IOException {
        assertThat(read("", false).commands).isEmpty();
        assertThat(read(HEAD, false).commands).isEmpty();
    }

    @Test
    void everyTornEndIsCutOff() throws IOException {
        String intact = HEAD + block(SET_A, 0);
        String last = block(SET_B, 0);
        for (int i = 1; i < last.length(); i++) {
            Read read = read(intact + last.substring(0, i), true);
            assertThat(read.commands).as("%s bytes", i).containsExactly(A);
            assertThat(read.torn).isEqualTo(i);
        }
    }

    @Test
    void everyTornEndOfARedisFileIsCutOff() throws IOException {
        for (int i = 1; i < SET_B.length(); i++) {
            Read read = read(SET_A + SET_B.substring(0, i), true);
            assertThat(read.commands).as("%s bytes", i).containsExactly(A);
            assertThat(read.torn).isEqualTo(i);
        }
    }

    @Test
    void transactionWithoutEndIsCutOff() throws IOException {
        assertThat(read(SET_A + MULTI + SET_B, true).torn).isEqualTo(MULTI.length() + SET_B.length());
        assertThat(read(SET_A + MULTI + SET_B + EXEC.substring(0, 9), true).torn)
                .isEqualTo(MULTI.length() + SET_B.length() + 9);
        assertThatThrownBy(() -> read(SET_A + MULTI + SET_B, false)).hasMessageContaining("byte " + SET_A.length())
                .hasMessageContaining("transaction");
    }

    /** A block is in the file as a whole, and so are the transactions in it: cutting one off would damage the block. */
    @Test
    void transactionThatDoesNotEndInItsBlockIsDamage() {
        String begin = HEAD + block(SET_A, 0);
        for (String open : List.of(block(SET_B + MULTI + SET_A, 0), block(SET_B + MULTI + SET_A, 0) + block(EXEC, 0),
                block(SET_B + MULTI, 0) + SET_A + EXEC)) {
            assertThatThrownBy(() -> read(begin + open, true)).as(open).isInstanceOf(LogException.class)
                    .hasMessageContaining("byte " + (begin + open).indexOf(MULTI))
                    .hasMessageContaining("transaction");
        }
    }

    @Test
    void tornEndOfAnotherFileThanTheLastIsDamage() {
        String torn = HEAD + block(SET_A, 0) + block(SET_B, 0).substring(0, 30);
        assertThatThrownBy(() -> read(torn, false)).isInstanceOf(LogException.class)
                .hasMessageContaining("byte " + (HEAD + block(SET_A, 0)).length());
    }

    /** After a loss of power, blocks that were not forced may be there in any selection. */
    @Test
    void blockThatWasNotForcedMayBeMissingBeforeOthers() throws IOException {
        String start = HEAD + block(SET_A, 0);
        String lost = "\0".repeat(block(SET_B, 0).length());
        Read read = read(start + lost + block(SET_A, start.length()), true);
        assertThat(read.commands).containsExactly(A);
        assertThat(read.torn).isEqualTo(lost.length() + block(SET_A, start.length()).length());
    }

    /** A later block says that it was on disk: someone else has damaged it. */
    @Test
    void blockThatWasForcedMayNotBeDamaged() {
        String start = HEAD + block(SET_A, 0);
        String damaged = block(SET_B, 0).replace("2\r\n", "3\r\n");
        String end = block(SET_A, start.length() + damaged.length());
        assertThatThrownBy(() -> read(start + damaged + "\r\n" + end, true)).isInstanceOf(LogException.class)
                .hasMessageContaining("byte " + start.length()).hasMessageContaining("damaged");
    }

    /** A client may write such lines, but does not know the mark. */
    @Test
    void valueThatLooksLikeABlockProvesNothing() throws IOException {
        String start = HEAD + block(SET_A, 0);
        String value = block(SET_A, start.length() + 1).replace(MARK, "fedcba9876543210");
        String torn = block("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$" + value.length() + "\r\n" + value + "\r\n", 0);
        Read read = read(start + torn.substring(0, torn.length() - 1), true);
        assertThat(read.commands).containsExactly(A);
        assertThat(read.torn).isEqualTo(torn.length() - 1);
    }

    @Test
    void filesOfLaterVersionsAreRefused() {
        for (String head : List.of("#VARVE:2:" + MARK + "\r\n", "#VARVE:1:0123", "#VARVE")) {
            assertThatThrownBy(() -> read(head, true)).as(head).isInstanceOf(LogException.class)
                    .hasMessageContaining("byte 0");
        }
    }

    /** Otherwise the whole file would be a torn end, or its checksums would not be looked at. */
    @Test
    void changedByteOfTheFirstLineIsDamage() {
        for (int i = 0; i < HEAD.length(); i++) {
            String damaged = HEAD.substring(0, i) + (char) (HEAD.charAt(i) ^ 1) + HEAD.substring(i + 1);
            assertThatThrownBy(() -> read(damaged + block(SET_A, 0), true)).as("byte %s", i)
                    .isInstanceOf(LogException.class);
        }
    }

    @Test
    void tornLineOfTheFirstBlockIsCutOff() throws IOException {
        String first = block(SET_A, 0);
        for (int i = 1; i < first.length(); i++) {
            assertThat(read(HEAD + first.substring(0, i), true).torn).isEqualTo(i);
        }
    }

    @Test
    void intactBytesEndBetweenBlocksAndTransactions() throws IOException {
        String good = HEAD + block("#T:5\r\n" + SET_A, 0) + block(MULTI + SET_A + SET_B + EXEC, 0);
        String damaged = block(SET_A + SET_B, 0).replace("2\r\n", "3\r\n");
        String end = block(SET_B, good.length() + damaged.length()) + block(MULTI + SET_A + EXEC, 0);
        Counted counted = count(good + damaged + end, false);
        assertThat(counted).isEqualTo(new Counted(good.length(), 5, 2, 1, good.length(), 4));
        assertThat(count(good + damaged.substring(0, 5), true)).isEqualTo(new Counted(good.length(), 5, 2, 1,
                good.length(), 0));
        String plain = SET_A + MULTI + SET_B + EXEC + SET_A;
        assertThat(count(plain + MULTI + SET_B, true)).isEqualTo(new Counted(plain.length(), 5, 0, 1,
                plain.length() + MULTI.length() + SET_B.length(), 0));
    }

    /**
     * The result of a reader.
     *
     * @param stopped where damage or the torn end begins
     * @param behind commands behind damage
     */
    private record Counted(long intact, long commands, long blocks, long transactions, long stopped, long behind) {}

    private Counted count(String content, boolean mayBeTorn) throws IOException {
        byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
        try (NativeMemory memory = new NativeMemory()) {
            var mapped = memory.allocate(bytes.length);
            mapped.copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes));
            LogReader reader = new LogReader(folder.resolve("log"), mapped, 0, mayBeTorn);
            long stopped;
            try {
                while (reader.read(new RecordedRequests())) {
                    // Until the end.
                }
                stopped = reader.stoppedAt();
            } catch (LogException damaged) {
                stopped = damaged.offset();
            }
            long behind = 0;
            LogReader next = reader.behind(stopped);
            if (next != null) {
                while (next.read(new RecordedRequests())) {
                    // Until the end.
                }
                behind = next.commands();
            }
            return new Counted(reader.intactBytes(), reader.intactCommands(), reader.blocks(), reader.transactions(),
                    stopped, behind);
        }
    }

    @Test
    void whatIsNoCommandIsDamage() {
        for (String wrong : List.of("SET a 1\r\n", "*x\r\n", "*1\r\n$-1\r\n", "*0\r\n", "*1\r\n$1\r\nab\r\n",
                "*99999999999999\r\n", "*1\r\n$4000000000\r\n", "*1\r\n:5\r\n")) {
            assertThatThrownBy(() -> read(SET_A + wrong + SET_B, true)).as(wrong).isInstanceOf(LogException.class)
                    .hasMessageContaining("byte " + SET_A.length());
        }
    }

    @Test
    void manifestsAreReadAsRedisWritesThem() throws IOException {
        Path file = Files.writeString(folder.resolve("m"), """
                file "my log.1.base.rdb" seq 1 type b
                file log.9.incr.aof seq 9 type h
                # a comment
                file log.2.incr.aof seq 2 type i startoffset 0 endoffset 12
                file log.3.incr.aof seq 3 type i
                """);
        LogManifest manifest = LogManifest.read(file);
        assertThat(manifest.base()).isEqualTo(new LogManifest.Entry("my log.1.base.rdb", 1));
        assertThat(manifest.names()).containsExactly("my log.1.base.rdb", "log.2.incr.aof", "log.3.incr.aof");
        Files.writeString(file, manifest.text());
        assertThat(LogManifest.read(file)).isEqualTo(manifest);
    }

    @Test
    void namesInQuotesHaveEscapesAsInRedis() throws IOException {
        Path file = Files.writeString(folder.resolve("m"), """
                file "a\\n\\r\\t\\a\\b\\x41\\q\\\"\\\\" seq 1 type b
                file 'it\\'s \\n' seq 2 type i
                """);
        LogManifest manifest = LogManifest.read(file);
        assertThat(manifest.names()).containsExactly("a\n\r\t\u0007\bAq\"\\", "it's \\n");
        Files.writeString(file, manifest.text());
        assertThat(LogManifest.read(file)).isEqualTo(manifest);
    }

    @Test
    void wrongManifestsAreRefusedWithTheirLine() throws IOException {
        Path file = folder.resolve("m");
        for (String wrong : List.of("file a seq 1 type x", "file a seq x type b", "file a type b", "file", "seq 1",
                "file ../a seq 1 type b", "file .. seq 1 type b", "file . seq 1 type b", "file a seq 0 type i",
                "file \"a seq 1 type b", "\"", "file \"a\\", "file 'a seq 1 type b", "file \"a\"b seq 1 type b",
                "file \"a\0b\" seq 1 type b", "file a seq \"\\xzz\" type b",
                "file a seq 2 type i\nfile b seq 1 type i", "file a seq 1 type b\nfile b seq 2 type b")) {
            Files.writeString(file, wrong);
            assertThatThrownBy(() -> LogManifest.read(file)).as(wrong).isInstanceOf(IOException.class)
                    .hasMessageContaining("m:" + (wrong.contains("\n") ? 2 : 1));
        }
        Files.writeString(file, "");
        assertThatThrownBy(() -> LogManifest.read(file)).hasMessageContaining("no file");
    }
}
