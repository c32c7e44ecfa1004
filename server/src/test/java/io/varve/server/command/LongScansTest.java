package io.varve.server.command;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands that need more work or memory than one call may use. Confined to the test's thread. */
class LongScansTest {
    private final CommandHarness server = new CommandHarness();

    @AfterEach
    void close() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
    }

    private record Scanned(String cursor, List<String> keys) {}

    private Scanned scan(String cursor, String count) {
        String[] lines = server.run("SCAN", cursor, "COUNT", count).split("\r\n");
        List<String> keys = new ArrayList<>();
        for (int i = 5; i < lines.length; i += 2) {
            keys.add(lines[i]);
        }
        assertThat(lines[3]).isEqualTo("*" + keys.size());
        return new Scanned(lines[2], keys);
    }

    private void assertThatAScanFinds(int count) {
        Set<String> seen = new HashSet<>();
        String cursor = "0";
        do {
            Scanned some = scan(cursor, "1000000");
            seen.addAll(some.keys);
            cursor = some.cursor;
        } while (!cursor.equals("0"));
        assertThat(seen).hasSize(count);
    }

    @Test
    void scanLimitsTheKeysOfACall() {
        int keys = 150_000;
        for (int i = 0; i < keys; i++) {
            server.run("SET", "k" + i, "");
        }
        Scanned some = scan("0", "1000000");
        assertThat(some.keys).hasSizeBetween(50_000, 100_000);
        assertThat(some.cursor).isNotEqualTo("0");
        assertThatAScanFinds(keys);
        assertThat(scan("0", "1000").keys).hasSizeBetween(1000, 1100);
    }

    @Test
    void scanLimitsTheBytesOfAReply() {
        int keys = 300;
        for (int i = 0; i < keys; i++) {
            server.run("SET", i + "k".repeat(60_000), "");
        }
        Scanned some = scan("0", "1000000");
        assertThat(some.keys).hasSizeBetween(60, 150);
        assertThat(some.cursor).isNotEqualTo("0");
        assertThatAScanFinds(keys);
    }

    /** Over as many fields as are noted at a time. */
    @Test
    void randomFieldsOfALargeHash() {
        int fields = 10_000;
        for (int i = 0; i < fields; i += 2000) {
            String[] some = new String[2 + 2 * 2000];
            some[0] = "HSET";
            some[1] = "h";
            for (int j = 0; j < 2000; j++) {
                some[2 + 2 * j] = "f" + (i + j);
                some[3 + 2 * j] = "v" + (i + j);
            }
            assertThat(server.run(some)).isEqualTo(":2000\r\n");
        }
        assertThat(words("HRANDFIELD h 100", 1)).hasSize(100);
        assertThat(words("HRANDFIELD h " + fields, 1)).hasSize(fields);
        assertThat(server.run("HRANDFIELD h")).matches("\\$\\d\\r\\nf\\d+\\r\\n");
        Map<String, Integer> picks = words("HRANDFIELD h -25000", 1);
        assertThat(picks.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(25_000);
        // A part of 1 - exp(-25000/10000) is picked at least once: 9179, with a standard deviation of 24.
        assertThat(picks).hasSizeBetween(9_000, 9_360);
        String[] pairs = server.run("HRANDFIELD h -50000 WITHVALUES").split("\r\n");
        assertThat(pairs[0]).isEqualTo("*100000");
        for (int i = 2; i < pairs.length; i += 4) {
            assertThat(pairs[i + 2].substring(1)).isEqualTo(pairs[i].substring(1));
        }
    }

    private Map<String, Integer> words(String command, int first) {
        String[] lines = server.run(command).split("\r\n");
        Map<String, Integer> counts = new HashMap<>();
        for (int i = first + 1; i < lines.length; i += 2) {
            counts.merge(lines[i], 1, Integer::sum);
        }
        return counts;
    }

    @Test
    void differentFieldsHaveTheSameChance() {
        server.run("HSET h a 1 b 1 c 1 d 1");
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 4000; i++) {
            words("HRANDFIELD h 2", 1).forEach((field, count) -> {
                assertThat(count).isOne();
                counts.merge(field, 1, Integer::sum);
            });
        }
        // 2000 each, with a standard deviation of 32.
        assertThat(counts.values()).hasSize(4).allMatch(count -> count > 1800 && count < 2200);
    }

    @Test
    void aTextThatIsLongerThanAnyCanBeIsRefused() {
        String text = "x".repeat(100_000);
        for (String command : new String[] {"CONFIG GET", "CLIENT SETNAME", "INFO", "SCAN 0 TYPE", "HELLO 3 SETNAME"}) {
            String[] words = (command + " " + text).split(" ");
            assertThat(server.run(words)).as(command).isEqualTo("-ERR argument is too long\r\n");
        }
        assertThat(server.run("CLIENT", "SETNAME", "n".repeat(300))).startsWith("-ERR Client names cannot be longer");
    }

    /** One string of a few bytes and one so long that rows of lengths and a copy of it would not fit the heap. */
    @Test
    void lcsStaysWithinTheHeapBudget() {
        server.run("SETRANGE", "long", Integer.toString(20_000_000), "x");
        server.run("SET", "short", "x");
        Runtime runtime = Runtime.getRuntime();
        String reply = server.run("LCS", "short", "long", "LEN");
        assertThat(reply).isEqualTo(183_000_000 < runtime.maxMemory() / 4 * 3
                ? ":1\r\n"
                : "-ERR Insufficient memory, failed allocating transient memory for LCS\r\n");
    }
}
