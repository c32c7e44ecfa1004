package io.varve.server.command;

import io.varve.server.command.connection.ConnectionCommands;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A flush holds the locks of all shards from its last check to its end: a server that hands over its role waits for
 * these locks once, and must find no flush that comes later. Confined to the test's thread.
 */
class FlushUnderLocksTest {
    private static final int SHARDS = 2;

    private final CommandHarness server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb")
            .with("shards", Integer.toString(SHARDS)), "127.0.0.1:1", FlushUnderLocksTest::commands);

    /** With a flush that replies the number of locked shards. */
    private static CommandTable commands(ServerState context) {
        CommandTable.Builder table = CommandTable.builder();
        new ConnectionCommands(context).register(table);
        table.add(CommandBuilder.named("flushes").arity(1).group("server").since("1.0.0").summary("Flushes nothing")
                .traits(CommandTrait.FLUSHES).handler(command -> {
                    int locked = 0;
                    for (int i = 0; i < SHARDS; i++) {
                        locked += command.session().isLocked(i) ? 1 : 0;
                    }
                    command.reply().integer(locked);
                }));
        CommandTable complete = table.build(context.config().renames());
        context.commands(complete);
        return complete;
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void flush_holdsAllLocks() {
        assertThat(server.run("flushes")).isEqualTo(":" + SHARDS + "\r\n");
    }
}
