package io.varve.server.command;

import java.util.List;

import io.varve.server.command.connection.ConnectionCommands;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.string.StringCommands;
import io.varve.server.command.transaction.TransactionCommands;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Commands that run when a load begins, such as a full synchronization: they were admitted before, and find no keys.
 * Confined to the test's thread.
 */
class LoadDuringCommandTest {
    private final CommandHarness server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb")
            .with("shards", "2"), "127.0.0.1:1", LoadDuringCommandTest::commands);

    /** With a read that meets the beginning of a load. */
    private static CommandTable commands(ServerState context) {
        CommandTable.Builder table = CommandTable.builder();
        StringCommands.addTo(table);
        TransactionCommands.addTo(table);
        new ConnectionCommands(context).register(table);
        table.add(CommandBuilder.named("reads").arity(2).key(1).categories("@keyspace").group("generic").since("1.0.0")
                .summary("Meets a load").access("RO").flags(CommandFlag.READONLY).handler(command -> {
                    context.load().begin();
                    command.reply().nil();
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
    void read_isRefused() {
        assertThat(server.run("SET", "key", "value")).isEqualTo("+OK\r\n");
        assertThat(server.run("reads", "key")).isEqualTo("-" + Errors.LOADING + "\r\n");
        server.server().load().end();
        assertThat(server.run("GET", "key")).isEqualTo("$5\r\nvalue\r\n");
    }

    @Test
    void transaction_isRefused_andEnds() {
        server.run("MULTI");
        server.run("reads", "key");
        assertThat(server.run("EXEC")).startsWith("-EXECABORT ").contains(Errors.LOADING);
        server.server().load().end();
        assertThat(server.run("EXEC")).startsWith("-ERR EXEC without MULTI");
    }

    /** The load begins between MULTI and EXEC, as in Redis. */
    @Test
    void transactionThatWasQueuedBefore_isRefused() {
        server.run("MULTI");
        server.run("GET", "key");
        server.server().load().begin();
        assertThat(server.run("EXEC")).startsWith("-EXECABORT ").contains(Errors.LOADING);
        server.run("MULTI");
        server.run("ECHO", "text");
        assertThat(server.run("EXEC")).as("it reads no key").isEqualTo("*1\r\n$4\r\ntext\r\n");
    }

    /** A pipeline of plain reads is checked once. */
    @Test
    void readsBehindItInThePipeline_areRefused() {
        server.run("SET", "key", "value");
        assertThat(server.runBatch(List.of(new String[] {"reads", "key"}, new String[] {"GET", "key"},
                new String[] {"STRLEN", "key"}, new String[] {"PING"})))
                .isEqualTo(("-" + Errors.LOADING + "\r\n").repeat(4));
    }

    /** Commands before it in the pipeline keep their replies. */
    @Test
    void commandsBefore_haveTheirReplies() {
        server.run("SET", "key", "value");
        assertThat(server.runBatch(List.of(new String[] {"GET", "key"}, new String[] {"reads", "key"},
                new String[] {"PING"}))).startsWith("$5\r\nvalue\r\n-LOADING ");
    }
}
