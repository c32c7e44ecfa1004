package io.varve.server.command;

import io.varve.memory.item.CacheFullException;
import io.varve.server.command.connection.ConnectionCommands;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.string.StringCommands;
import io.varve.server.command.transaction.TransactionCommands;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests for which other keys are evicted, and requests that are too large for that. Confined to the test's thread.
 */
class RefusedWritesTest {
    private static final int WANTED_BYTES = 1 << 20;
    private static final int ALL_BYTES = 16 << 20;

    private final CommandHarness server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "16mb")
            .with("shards", "2").with("maxmemory-policy", "allkeys-lru"), "127.0.0.1:1", this::commands);
    private int runs;

    /** With some that are always refused memory: a lot of it, all that there is, or more than anything can have. */
    private CommandTable commands(ServerState context) {
        CommandTable.Builder table = CommandTable.builder();
        StringCommands.addTo(table);
        TransactionCommands.addTo(table);
        new ConnectionCommands(context).register(table);
        table.add(refused("wants", CacheFullException.of(WANTED_BYTES)));
        table.add(refused("wantsall", CacheFullException.of(ALL_BYTES)));
        table.add(refused("wantstoomuch", CacheFullException.TOO_LARGE));
        CommandTable complete = table.build(context.config().renames());
        context.commands(complete);
        return complete;
    }

    private CommandBuilder refused(String name, CacheFullException why) {
        return CommandBuilder.named(name).arity(2).key(1).categories("@keyspace").group("generic").since("1.0.0")
                .summary("Is refused").access("RW").flags(CommandFlag.WRITE).handler(_ -> {
                    runs++;
                    throw why;
                });
    }

    @BeforeEach
    void fill() {
        for (int i = 0; i < 6000; i++) {
            assertThat(server.run("SET", "filler" + i, "v".repeat(4000))).isEqualTo("+OK\r\n");
        }
        runs = 0;
    }

    @AfterEach
    void close() {
        server.close();
    }

    private long evicted() {
        return server.cache().stats().evicted();
    }

    @Test
    void oversizedRequestsEvictNothing() {
        long before = evicted();
        assertThat(server.run("WANTSTOOMUCH k")).startsWith("-OOM");
        assertThat(runs).isOne();
        assertThat(server.run("WANTSALL k")).startsWith("-OOM");
        assertThat(runs).isEqualTo(2);
        assertThat(evicted()).isEqualTo(before);
        assertThat(server.run("WANTS k")).startsWith("-OOM");
        assertThat(runs).isGreaterThan(3);
        assertThat(evicted()).isGreaterThan(before);
    }

    @Test
    void norInATransaction() {
        assertThat(server.run("MULTI")).isEqualTo("+OK\r\n");
        assertThat(server.run("WANTSTOOMUCH k")).isEqualTo("+QUEUED\r\n");
        assertThat(server.run("SET k v")).isEqualTo("+QUEUED\r\n");
        long before = evicted();
        assertThat(server.run("EXEC")).startsWith("*2\r\n-OOM").endsWith("+OK\r\n");
        assertThat(runs).isOne();
        assertThat(evicted() - before).as("for SET alone, if at all").isLessThan(20);
    }
}
