package io.varve.server.command;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.connection.ClientCommands;
import io.varve.server.command.connection.ConnectionCommands;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.transaction.TransactionCommands;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which commands unlock their shards before they end, as a long SORT_RO does. Confined to the test's thread, except for
 * the thread that tries to lock.
 */
class ReleasedLocksTest {
    private final Arena arena = Arena.ofShared();
    /** Whether another thread got the lock of the key's shard, for each command that let it. */
    private final List<Boolean> got = new ArrayList<>();
    private final CommandHarness server = new CommandHarness(
            ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "1"), "127.0.0.1:1", this::commands);

    /** With commands that release their locks: of one key, of two, and one that reads keys which it does not name. */
    private CommandTable commands(ServerState context) {
        CommandTable.Builder table = CommandTable.builder();
        TransactionCommands.addTo(table);
        new ConnectionCommands(context).register(table);
        new ClientCommands(context).register(table);
        table.add(letting("lets"));
        table.add(letting("letsall").usesOtherKeys(_ -> true));
        table.add(letting("letstwo").arity(3).keys(1, 2, 1));
        CommandTable complete = table.build(context.config().renames());
        context.commands(complete);
        return complete;
    }

    private CommandBuilder letting(String name) {
        return CommandBuilder.named(name).arity(2).key(1).categories("@keyspace").group("generic").since("1.0.0")
                .summary("Lets others").access("RO").flags(CommandFlag.READONLY).handler(call -> {
                    call.withLocksReleased(() -> got.add(getsLock()));
                    call.reply().ok();
                });
    }

    @AfterEach
    void close() {
        server.close();
        arena.close();
    }

    private boolean getsLock() {
        FutureTask<Boolean> tries = new FutureTask<>(() -> {
            byte[] name = "k".getBytes(US_ASCII);
            long address = arena.allocate(name.length).address();
            Memory.copy(name, 0, address, name.length);
            CacheSession other = server.cache().newSession();
            Key key = new Key();
            other.bind(key, 0, address, name.length);
            boolean locked = other.tryLock(key);
            if (locked) {
                other.unlock(key);
            }
            return locked;
        });
        Thread.ofPlatform().start(tries);
        try {
            return tries.get();
        } catch (InterruptedException | ExecutionException failed) {
            throw new AssertionError(failed);
        }
    }

    @Test
    void readOnlyCommandsReleaseTheirShards() {
        assertThat(server.run("LETS k") + server.run("LETSALL k") + server.run("LETSTWO other k"))
                .isEqualTo("+OK\r\n+OK\r\n+OK\r\n");
        assertThat(got).containsExactly(true, true, true);
        assertThat(getsLock()).as("it has let go of its locks").isTrue();
    }

    /** It would miss changes made meanwhile, before its keys are remembered. */
    @Test
    void trackingClientsKeepTheirLocks() {
        server.run("HELLO 3");
        server.run("CLIENT TRACKING ON");
        server.run("LETS k");
        server.run("LETSALL k");
        server.run("LETSTWO other k");
        server.run("CLIENT TRACKING OFF");
        server.run("LETS k");
        assertThat(got).containsExactly(false, false, false, true);
    }

    @Test
    void aTransactionKeepsItsLocks() {
        server.run("MULTI");
        server.run("LETS k");
        server.run("LETSALL k");
        server.run("LETSTWO other k");
        assertThat(server.run("EXEC")).startsWith("*3");
        assertThat(got).containsExactly(false, false, false);
    }
}
