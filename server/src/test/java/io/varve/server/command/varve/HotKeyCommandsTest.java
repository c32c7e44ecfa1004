package io.varve.server.command.varve;

import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** VARVE.HOTKEYS. Confined to the test's thread. */
class HotKeyCommandsTest extends HarnessTest {
    private static final int KEYS = 2_000;
    private static final int READS = 200_000;
    private static final int READS_A_MILLISECOND = 20;
    private static final String NOT_TRACKED = "-ERR hot keys are not tracked: enable tracking with CONFIG SET"
            + " hotkeys-tracking yes";

    HotKeyCommandsTest() {
        super(new CommandHarness(ServerConfig.defaults().with("maxmemory", "16mb").with("shards", "4")));
    }

    /** Keys with their rates, in the order of the reply. */
    private Map<String, Double> hottest(int count) {
        List<String> lines = server.run("VARVE.HOTKEYS", "COUNT", Integer.toString(count)).lines().toList();
        Map<String, Double> rates = new LinkedHashMap<>();
        for (int i = 1; i < lines.size(); i += 4) {
            assertThat(lines.get(i)).isEqualTo("*2");
            rates.put(lines.get(i + 2), Double.valueOf(lines.get(i + 3).substring(1)));
        }
        return rates;
    }

    private void setKeys() {
        for (int i = 0; i < KEYS; i++) {
            execute("SET", "key" + i, "value");
        }
    }

    @Test
    void theCommandNeedsTracking() {
        expect("VARVE.HOTKEYS", NOT_TRACKED);
        expect("CONFIG SET hotkeys-tracking yes", "+OK");
        expect("VARVE.HOTKEYS", "*0");
        assertThat(execute("VARVE.HOTKEYS COUNT")).startsWith("-ERR syntax error");
        assertThat(execute("VARVE.HOTKEYS TOP 3")).startsWith("-ERR syntax error");
        assertThat(execute("VARVE.HOTKEYS COUNT 0")).startsWith("-ERR COUNT is out of range, expected 1 to 512");
        expect("CONFIG SET hotkeys-tracking no", "+OK");
        expect("VARVE.HOTKEYS", NOT_TRACKED);
    }

    /** Zipfian reads, with exponent 1: key i is read 1/i times as often as key 1. */
    @Test
    void theMostReadKeysAreFound() {
        execute("CONFIG SET hotkeys-tracking yes");
        setKeys();
        double[] sums = new double[KEYS];
        for (int i = 0; i < KEYS; i++) {
            sums[i] = (i == 0 ? 0 : sums[i - 1]) + 1.0 / (i + 1);
        }
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.test.seed"));
        for (int i = 0; i < READS; i++) {
            int found = Arrays.binarySearch(sums, random.nextDouble() * sums[KEYS - 1]);
            server.run("GET", "key" + (found < 0 ? -found - 1 : found));
            if (i % READS_A_MILLISECOND == 0) {
                server.sleep(1);
            }
        }
        Map<String, Double> rates = hottest(10);
        assertThat(rates).hasSize(10);
        assertThat(rates.keySet().iterator().next()).isEqualTo("key0");
        assertThat(rates.keySet()).contains("key0", "key1", "key2", "key3");
        double total = 1000.0 * READS_A_MILLISECOND;
        // Some 380 samples of key0, and 190 of key1: half and twice are many standard deviations away.
        assertThat(rates.get("key0")).isBetween(0.6 * total / sums[KEYS - 1], 1.6 * total / sums[KEYS - 1]);
        assertThat(rates.get("key1")).isBetween(0.25 * total / sums[KEYS - 1], total / sums[KEYS - 1]);
        assertThat(List.copyOf(rates.values())).isSortedAccordingTo(Comparator.reverseOrder());
        assertThat(hottest(3)).hasSize(3);
    }

    @Test
    void otherDatabasesAndLongKeysAreNotReported() {
        execute("CONFIG SET hotkeys-tracking yes");
        String longest = "k".repeat(513);
        execute("SET", longest, "value");
        execute("SET", "here", "value");
        for (int i = 0; i < 3000; i++) {
            server.run("GET", longest);
            server.run("GET", "missing");
            server.run("GET", "here");
        }
        server.sleep(1000);
        assertThat(hottest(10)).containsOnlyKeys("here");
        execute("SELECT 1");
        assertThat(hottest(10)).isEmpty();
        execute("SELECT 0");
        execute("FLUSHDB");
        assertThat(hottest(10)).isEmpty();
    }

    @Test
    void keysThatAreNoLongerReadAreForgotten() {
        execute("CONFIG SET hotkeys-tracking yes");
        setKeys();
        for (int i = 0; i < 20_000; i++) {
            server.run("GET", "key1");
        }
        server.sleep(1000);
        assertThat(hottest(10)).containsOnlyKeys("key1");
        for (int i = 0; i < 40; i++) {
            server.sleep(5_000);
            server.run("MGET", "key2", "key2");
        }
        assertThat(hottest(10)).doesNotContainKey("key1");
    }
}
