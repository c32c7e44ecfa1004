package io.varve.server.command.server;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.resp.RequestHeapBudget;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_ASYNC_LOADING;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** ROLE, WAIT, REPLICAOF and FAILOVER, as replied by a primary without replicas. Immutable: static handlers. */
final class ReplicationCommands {
    /** Heap bytes of a waiting client. */
    private static final long WAITING_BYTES = 1 << 10;
    private static final int MAX_PORT = 65_535;

    private ReplicationCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("role").group("server").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST)
                .categories("@admin", "@dangerous").since("2.8.12")
                .summary("Returns the replication role of the server").handler(ReplicationCommands::role));
        table.add(CommandBuilder.named("wait").group("generic").arity(3).flags(CommandFlag.BLOCKING)
                .tips("request_policy:all_shards", "response_policy:agg_min").since("3.0.0")
                .categories("@connection")
                .summary("Waits for replicas; there are none, so it returns 0 at the timeout")
                .handler(ReplicationCommands::await));
        table.add(replicaOf("replicaof", "5.0.0"));
        table.add(replicaOf("slaveof", "1.0.0"));
        table.add(CommandBuilder.named("failover").group("server").arity(-1).flags(ADMIN, NOSCRIPT, STALE)
                .since("6.2.0")
                .summary("Starts a failover to a replica; there are none").handler(ReplicationCommands::failover));
    }

    private static CommandBuilder replicaOf(String name, String since) {
        return CommandBuilder.named(name).group("server").arity(3).flags(NO_ASYNC_LOADING, ADMIN, NOSCRIPT, STALE)
                .since(since).summary("Accepts only NO ONE: this server cannot become a replica")
                .handler(ReplicationCommands::replicaOf);
    }

    private static void role(CommandContext context) {
        context.reply().array(3);
        context.reply().bulkAscii("master");
        context.reply().integer(0);
        context.reply().array(0);
    }

    /** Waits until the timeout, because no replica will ever acknowledge. */
    private static void await(CommandContext context) {
        if (!context.requireLong(1)) {
            return;
        }
        long replicas = context.longValue();
        if (!context.requireLong(2, "ERR timeout is not an integer or out of range")) {
            return;
        }
        long timeoutMillis = context.longValue();
        if (timeoutMillis < 0) {
            context.reply().error("ERR timeout is negative");
        } else if (timeoutMillis > Long.MAX_VALUE - context.server().ticker().wallMillis()) {
            context.reply().error("ERR timeout is out of range");
        } else if (replicas <= 0 || context.isInTransaction()) {
            context.reply().integer(0);
        } else {
            wait(context, timeoutMillis);
        }
    }

    private static void wait(CommandContext context, long timeoutMillis) {
        RequestHeapBudget memory = context.server().argumentMemory();
        if (!memory.tryReserve(WAITING_BYTES)) {
            context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return;
        }
        ParkedCommand wait = context.park(timeoutMillis, reply -> reply.integer(0));
        wait.allowUnblock();
        wait.onFinish(() -> memory.release(WAITING_BYTES));
    }

    private static void replicaOf(CommandContext context) {
        if (context.argumentIs(1, "NO") && context.argumentIs(2, "ONE")) {
            context.reply().ok();
        } else if (!context.isLong(2) || context.longValue() < 0 || context.longValue() > MAX_PORT) {
            context.reply().error("ERR Invalid master port");
        } else {
            context.reply().error("ERR replication is not supported: this server cannot become a replica");
        }
    }

    private static void failover(CommandContext context) {
        int arguments = context.argumentCount();
        if (arguments == 2 && context.argumentIs(1, "ABORT")) {
            context.reply().error("ERR No failover in progress.");
            return;
        }
        boolean timed = false;
        boolean targeted = false;
        boolean forced = false;
        for (int i = 1; i < arguments; i++) {
            if (context.argumentIs(i, "TIMEOUT") && i + 1 < arguments && !timed) {
                if (!context.requireLong(++i)) {
                    return;
                }
                if (context.longValue() <= 0) {
                    context.reply().error("ERR FAILOVER timeout must be greater than 0");
                    return;
                }
                timed = true;
            } else if (context.argumentIs(i, "TO") && i + 2 < arguments && !targeted) {
                i += 2;
                if (!context.requireLong(i)) {
                    return;
                }
                targeted = true;
            } else if (context.argumentIs(i, "FORCE") && !forced) {
                forced = true;
            } else {
                context.syntaxError();
                return;
            }
        }
        context.reply().error("ERR FAILOVER requires connected replicas.");
    }
}
