package io.varve.server.command.server;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandFlag;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.Suspension;
import io.varve.server.resp.ArgumentMemory;

import static io.varve.server.command.CommandFlag.ADMIN;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.NO_ASYNC_LOADING;
import static io.varve.server.command.CommandFlag.STALE;

/** ROLE, WAIT, REPLICAOF and FAILOVER, as a primary answers that has no replicas. Immutable: static handlers. */
final class ReplicationCommands {
    /** What a client that waits takes of the heap, bytes. */
    private static final long WAITING_BYTES = 1 << 10;
    private static final int MOST_PORT = 65_535;

    private ReplicationCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(CommandSpec.named("role").group("server").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST)
                .categories("@admin", "@dangerous").since("2.8.12")
                .summary("The part the server plays in replication.").handler(ReplicationCommands::role));
        table.add(CommandSpec.named("wait").group("generic").arity(3).flags(CommandFlag.BLOCKING)
                .tips("request_policy:all_shards", "response_policy:agg_min").since("3.0.0")
                .categories("@connection")
                .summary("Waits for replicas, of which there are none: it answers 0 at the end of the time.")
                .handler(ReplicationCommands::await));
        table.add(replicaOf("replicaof", "5.0.0"));
        table.add(replicaOf("slaveof", "1.0.0"));
        table.add(CommandSpec.named("failover").group("server").arity(-1).flags(ADMIN, NOSCRIPT, STALE).since("6.2.0")
                .summary("Hands over to a replica, of which there are none.").handler(ReplicationCommands::failover));
    }

    private static CommandBuilder replicaOf(String name, String since) {
        return CommandSpec.named(name).group("server").arity(3).flags(NO_ASYNC_LOADING, ADMIN, NOSCRIPT, STALE)
                .since(since).summary("NO ONE: the server is no replica, and stays none.")
                .handler(ReplicationCommands::replicaOf);
    }

    private static void role(Invocation call) {
        call.reply().array(3);
        call.reply().bulkAscii("master");
        call.reply().integer(0);
        call.reply().array(0);
    }

    /** No replica will ever acknowledge: one that is waited for is waited for until the end of the time. */
    private static void await(Invocation call) {
        if (!call.requireLong(1)) {
            return;
        }
        long replicas = call.longValue();
        if (!call.requireLong(2, "ERR timeout is not an integer or out of range")) {
            return;
        }
        long timeoutMillis = call.longValue();
        if (timeoutMillis < 0) {
            call.reply().error("ERR timeout is negative");
        } else if (timeoutMillis > Long.MAX_VALUE - call.server().ticker().wallMillis()) {
            call.reply().error("ERR timeout is out of range");
        } else if (replicas <= 0 || call.isInTransaction()) {
            call.reply().integer(0);
        } else {
            wait(call, timeoutMillis);
        }
    }

    private static void wait(Invocation call, long timeoutMillis) {
        ArgumentMemory memory = call.server().argumentMemory();
        if (!memory.take(WAITING_BYTES)) {
            call.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return;
        }
        Suspension wait = call.suspend(timeoutMillis, reply -> reply.integer(0));
        wait.letOthersEndIt();
        wait.whenOver(() -> memory.give(WAITING_BYTES));
    }

    private static void replicaOf(Invocation call) {
        if (call.argumentIs(1, "NO") && call.argumentIs(2, "ONE")) {
            call.reply().ok();
        } else if (!call.isLong(2) || call.longValue() < 0 || call.longValue() > MOST_PORT) {
            call.reply().error("ERR Invalid master port");
        } else {
            call.reply().error("ERR replication is not supported: this server cannot become a replica");
        }
    }

    private static void failover(Invocation call) {
        int arguments = call.argumentCount();
        if (arguments == 2 && call.argumentIs(1, "ABORT")) {
            call.reply().error("ERR No failover in progress.");
            return;
        }
        boolean timed = false;
        boolean targeted = false;
        boolean forced = false;
        for (int i = 1; i < arguments; i++) {
            if (call.argumentIs(i, "TIMEOUT") && i + 1 < arguments && !timed) {
                if (!call.requireLong(++i)) {
                    return;
                }
                if (call.longValue() <= 0) {
                    call.reply().error("ERR FAILOVER timeout must be greater than 0");
                    return;
                }
                timed = true;
            } else if (call.argumentIs(i, "TO") && i + 2 < arguments && !targeted) {
                i += 2;
                if (!call.requireLong(i)) {
                    return;
                }
                targeted = true;
            } else if (call.argumentIs(i, "FORCE") && !forced) {
                forced = true;
            } else {
                call.syntaxError();
                return;
            }
        }
        call.reply().error("ERR FAILOVER requires connected replicas.");
    }
}
