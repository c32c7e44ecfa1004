package io.varve.server.command.dispatch;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.spec.CommandSpec;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The statistics of a batch of commands, some of which share a clock reading. Confined to the test's thread. */
class CommandTimesTest {
    private static final int GETS = 21;

    @Test
    void eachCommandIsCountedOnceHoweverTheClockIsShared() {
        try (CommandHarness harness = new CommandHarness()) {
            harness.run("set word abc");
            harness.run("config resetstat");
            harness.begin();
            for (int i = 0; i < GETS; i++) {
                harness.add("get", "word");
                if (i % 5 == 0) {
                    harness.add("incr", "word");
                }
                if (i % 7 == 0) {
                    harness.add("no-such-command");
                    harness.add("get");
                    harness.add("hset", "hash" + i, "field", "value");
                }
            }
            harness.execute();
            harness.dropReply();
            String stats = harness.run("info commandstats");
            assertThat(stats).containsPattern("cmdstat_get:calls=" + GETS + ",.*rejected_calls=3,failed_calls=0")
                    .containsPattern("cmdstat_incr:calls=5,.*rejected_calls=0,failed_calls=5")
                    .containsPattern("cmdstat_hset:calls=3,.*rejected_calls=0,failed_calls=0");
        }
    }

    @Test
    void onlyCommandsOfBoundedTimeShare() {
        assertThat(shares(3, "get", "set", "setex", "incr", "ttl", "expire", "strlen")).containsOnly(true);
        assertThat(shares(4, "hset", "hget", "zadd", "sadd", "sismember", "lpush", "zincrby")).containsOnly(true);
        assertThat(shares(2, "lpop", "rpop", "spop", "zpopmin", "scard", "ping", "echo")).containsOnly(true);
        assertThat(shares(3, "lpop", "rpop", "spop", "zpopmin")).as("with a count").containsOnly(false);
        assertThat(shares(9, "hset", "zadd", "sadd", "lpush", "hmget")).as("many elements").containsOnly(false);
        assertThat(shares(3, "append", "setrange", "getrange", "mget", "del", "copy", "info", "hgetall", "lrange",
                "renamenx", "move", "publish", "blpop")).containsOnly(false);
    }

    private static boolean[] shares(int arguments, String... names) {
        try (CommandHarness harness = new CommandHarness()) {
            boolean[] shares = new boolean[names.length];
            for (int i = 0; i < names.length; i++) {
                CommandSpec spec = harness.table().find(names[i]);
                shares[i] = spec != null && spec.sharesClock(arguments);
            }
            return shares;
        }
    }
}
