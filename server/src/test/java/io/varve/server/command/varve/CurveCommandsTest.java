package io.varve.server.command.varve;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** VARVE.MRC, and the curve in INFO. Confined to the test's thread. */
class CurveCommandsTest {
    private static final Pattern PAIR = Pattern.compile("\\*2\r\n:(\\d+)\r\n\\$\\d+\r\n([0-9.]+)\r\n");
    private static final Pattern FIELD = Pattern.compile("(mrc_\\w+):([^\r]*)\r");
    private static final int KEYS = 1000;

    private final CommandHarness harness = new CommandHarness(ServerConfig.defaults().with("maxmemory", "16mb")
            .with("shards", "4").with("maxmemory-policy", "allkeys-lru"));

    @AfterEach
    void close() {
        harness.close();
    }

    /** Writes 1,000 items of 100 bytes and some more, and reads them round and round. */
    private void readRoundAndRound() {
        String value = "x".repeat(100);
        for (int key = 0; key < KEYS; key++) {
            harness.run("set", "key:" + key, value);
        }
        for (int round = 0; round < 15; round++) {
            for (int key = 0; key < KEYS; key++) {
                harness.run("get", "key:" + key);
            }
        }
    }

    private static List<double[]> pairs(String reply) {
        List<double[]> pairs = new ArrayList<>();
        for (Matcher matcher = PAIR.matcher(reply); matcher.find();) {
            pairs.add(new double[] {Double.parseDouble(matcher.group(1)), Double.parseDouble(matcher.group(2))});
        }
        return pairs;
    }

    private String field(String name) {
        for (Matcher matcher = FIELD.matcher(harness.run("info", "varve")); matcher.find();) {
            if (matcher.group(1).equals(name)) {
                return matcher.group(2);
            }
        }
        return "none";
    }

    @Test
    void withoutRecordingTheErrorNamesTheSetting() {
        assertThat(harness.run("varve.mrc"))
                .isEqualTo("-ERR no accesses are recorded: enable recording with CONFIG SET mrc-tracking yes\r\n");
        assertThat(field("mrc_tracking")).isEqualTo("0");
        assertThat(field("mrc_miss_ratio_maxmemory")).isEqualTo("none");
        harness.run("config", "set", "mrc-tracking", "yes");
        assertThat(harness.run("varve.mrc")).as("nothing was read yet").isEqualTo("*0\r\n");
        assertThat(field("mrc_tracking")).isEqualTo("1");
        assertThat(field("mrc_miss_ratio_maxmemory")).isEqualTo("-1");
    }

    @Test
    void theCurveIsReturnedInPairs() {
        harness.run("config", "set", "mrc-tracking", "yes");
        readRoundAndRound();
        List<double[]> pairs = pairs(harness.run("varve.mrc", "points", "50"));
        assertThat(pairs).hasSize(50);
        for (int i = 1; i < pairs.size(); i++) {
            assertThat(pairs.get(i)[0]).isGreaterThan(pairs.get(i - 1)[0]);
            assertThat(pairs.get(i)[1]).isLessThanOrEqualTo(pairs.get(i - 1)[1]);
        }
        assertThat(pairs.getFirst()[1]).as("of a loop nothing is of use until all of it fits").isGreaterThan(0.9);
        assertThat(pairs.getLast()[1]).isLessThan(0.2);
        assertThat(pairs(harness.run("VARVE.MRC"))).hasSize(20);
        assertThat(pairs(harness.run("varve.mrc", "class", "0", "points", "1"))).hasSize(1)
                .allSatisfy(pair -> assertThat(pair[0]).isCloseTo(pairs.getLast()[0], within(0.1 * pair[0])));
        harness.run("hello", "3");
        assertThat(harness.run("varve.mrc", "points", "2"))
                .matches("\\*2\r\n(\\*2\r\n:\\d+\r\n,[0-9.]+\r\n){2}");
    }

    @Test
    void infoReportsMissRatiosOfHalfAndDoubleMemory() {
        harness.run("config", "set", "mrc-tracking", "yes");
        readRoundAndRound();
        assertThat(Double.parseDouble(field("mrc_miss_ratio_maxmemory"))).isLessThan(0.2);
        assertThat(Double.parseDouble(field("mrc_miss_ratio_half_maxmemory"))).isLessThan(0.2);
        assertThat(Double.parseDouble(field("mrc_miss_ratio_double_maxmemory"))).isLessThan(0.2);
        assertThat(Long.parseLong(field("mrc_accesses"))).isBetween(15_500L, 16_000L);
        assertThat(Double.parseDouble(field("mrc_draw_rate"))).isCloseTo(0.01, within(0.0001));
        assertThat(Long.parseLong(field("mrc_followed_keys"))).isBetween(2L, 30L);
        assertThat(Long.parseLong(field("mrc_bytes"))).isBetween(80_000L, 120_000L);
        assertThat(Long.parseLong(field("mrc_largest_bytes"))).isBetween(200_000L, 2_000_000L);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"varve.mrc points|ERR syntax error", "varve.mrc 5|ERR syntax error",
            "varve.mrc of 5|ERR syntax error", "varve.mrc class|ERR syntax error",
            "varve.mrc points many|ERR value is not an integer or out of range",
            "varve.mrc class 9223372036854775808|ERR value is not an integer or out of range",
            "varve.mrc points 0|ERR POINTS is out of range, expected 1 to 1024",
            "varve.mrc points 1025|ERR POINTS is out of range, expected 1 to 1024",
            "varve.mrc class 1|ERR CLASS is out of range, expected 0: penalties are not tracked: enable tracking with CONFIG SET penalty-tracking yes",
            "varve.mrc points 5 class -1|ERR CLASS is out of range, expected 0: penalties are not tracked: enable tracking with CONFIG SET penalty-tracking yes"})
    void badInputIsRefused(String command, String error) {
        assertThat(harness.run(command)).isEqualTo("-" + error + "\r\n");
        harness.run("config", "set", "mrc-tracking", "yes");
        assertThat(harness.run(command)).isEqualTo("-" + error + "\r\n");
    }

    @Test
    void aWindowOfNothingIsRefusedAndNothingChanged() {
        assertThat(harness.run("config", "set", "mrc-tracking", "yes", "mrc-window", "0")).startsWith("-ERR ")
                .contains("mrc-window");
        assertThat(harness.run("config", "get", "mrc-*"))
                .isEqualTo("*4\r\n$12\r\nmrc-tracking\r\n$2\r\nno\r\n$10\r\nmrc-window\r\n$7\r\n1000000\r\n");
        assertThat(field("mrc_tracking")).isEqualTo("0");
    }

    @Test
    void recordingMemoryIsChargedAndReleased() {
        String before = harness.run("config", "get", "mrc-tracking");
        assertThat(before).contains("no");
        long charged = harness.cache().stats().chargedBytes();
        harness.run("config", "set", "mrc-tracking", "yes");
        assertThat(harness.cache().stats().chargedBytes() - charged).isEqualTo(Long.parseLong(field("mrc_bytes")));
        harness.run("config", "set", "mrc-tracking", "no");
        assertThat(harness.cache().stats().chargedBytes()).isEqualTo(charged);
    }
}
