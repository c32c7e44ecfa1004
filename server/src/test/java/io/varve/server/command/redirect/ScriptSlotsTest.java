package io.varve.server.command.redirect;

import java.nio.file.Path;
import java.util.Objects;

import io.varve.cluster.map.HashSlot;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which hash slots the commands of a script may use, as in Redis Cluster: a script with a header only one, unless
 * it has {@code allow-cross-slot-keys}; any script only those of this member. Confined to the test's thread.
 */
class ScriptSlotsTest {
    private static final String OTHER_SLOT = "-ERR Script attempted to access keys that do not hash to the same slot";
    private static final String NOT_LOCAL = "-ERR Script attempted to access a non local key in a cluster node";
    private static final String BOTH = "redis.call('set', 'a', '1') return redis.call('set', 'b', '2')";
    private static final String OK = "+OK\r\n";

    @TempDir
    Path folder;

    private CommandHarness harness;
    private ClusterState cluster;

    @BeforeEach
    void open() {
        harness = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4")
                .with("cluster-enabled", "yes").with("cluster-require-full-coverage", "no")
                .with("dir", folder.toString()));
        cluster = Objects.requireNonNull(harness.server().cluster());
        cluster.change(local -> {
            local.own(HashSlot.of("a".getBytes(UTF_8)));
            local.own(HashSlot.of("b".getBytes(UTF_8)));
        });
    }

    @AfterEach
    void close() {
        cluster.close();
        harness.close();
    }

    @Test
    void scriptsWithoutAHeader_mayUseAllSlotsOfTheMember() {
        assertThat(harness.run("EVAL", BOTH, "0")).isEqualTo(OK);
        assertThat(harness.run("EVAL", "return redis.call('set', 'c', '1')", "0")).startsWith(NOT_LOCAL);
        assertThat(harness.run("EVAL", "return redis.call('mget', 'a', 'b')", "0")).startsWith(NOT_LOCAL);
    }

    @Test
    void scriptsWithAHeader_useOneSlot() {
        assertThat(harness.run("EVAL", "#!lua\n" + BOTH, "0")).startsWith(OTHER_SLOT);
        assertThat(harness.run("EVAL", "#!lua\nreturn redis.call('set', 'b', '1')", "1", "a")).startsWith(OTHER_SLOT);
        assertThat(harness.run("EVAL", "#!lua\nreturn redis.call('set', 'b', '1')", "1", "b")).isEqualTo(OK);
        assertThat(harness.run("EVAL", "#!lua flags=allow-cross-slot-keys\n" + BOTH, "0")).isEqualTo(OK);
        assertThat(harness.run("EVAL", "#!lua\n" + BOTH.replace("'b'", "'{a}b'"), "0")).isEqualTo(OK);
    }

    @Test
    void functions_useOneSlot() {
        harness.run("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() " + BOTH + " end)\n"
                + "redis.register_function{function_name='g', callback=function() " + BOTH
                + " end, flags={'allow-cross-slot-keys'}}");
        assertThat(harness.run("FCALL", "f", "0")).startsWith(OTHER_SLOT);
        assertThat(harness.run("FCALL", "g", "0")).isEqualTo(OK);
    }
}
