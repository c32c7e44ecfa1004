package io.varve.server.command.server;

import java.util.List;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.replication.Replica;
import io.varve.server.replication.ReplicaRole;
import io.varve.server.replication.Replicas;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_ASYNC_LOADING;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** ROLE, REPLICAOF and FAILOVER: who is the primary of whom. Immutable: static handlers. */
final class RoleCommands {
    private static final int MAX_PORT = 65_535;

    private RoleCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("role").group("server").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST)
                .categories("@admin", "@dangerous").since("2.8.12")
                .summary("Returns the replication role of the server").handler(RoleCommands::role));
        table.add(replicaOf("replicaof", "5.0.0"));
        table.add(replicaOf("slaveof", "1.0.0"));
        table.add(CommandBuilder.named("failover").group("server").arity(-1).flags(ADMIN, NOSCRIPT, STALE)
                .since("6.2.0")
                .summary("Starts a failover to a replica").handler(RoleCommands::failover));
    }

    private static CommandBuilder replicaOf(String name, String since) {
        return CommandBuilder.named(name).group("server").arity(3).flags(NO_ASYNC_LOADING, ADMIN, NOSCRIPT, STALE)
                .since(since).summary("Makes the server a replica of another one, or with NO ONE a primary")
                .handler(RoleCommands::replicaOf);
    }

    private static void role(CommandContext context) {
        ReplyWriter reply = context.reply();
        Replicas replicas = context.server().replicas();
        ReplicaRole.Status status = context.server().role().status();
        if (status != null) {
            reply.array(5);
            reply.bulkAscii("slave");
            reply.bulkText(status.host());
            reply.integer(status.port());
            reply.bulkAscii(status.state().text());
            reply.integer(status.state() == ReplicaRole.State.CONNECTED ? replicas.offset() : -1);
            return;
        }
        List<Replica> online = replicas.all().stream()
                .filter(replica -> replica.state() == Replica.State.ONLINE && !replica.hasEnded()).toList();
        reply.array(3);
        reply.bulkAscii("master");
        reply.integer(replicas.offset());
        reply.array(online.size());
        for (Replica replica : online) {
            reply.array(3);
            reply.bulkAscii(replica.host());
            reply.bulkAscii(Integer.toString(replica.port()));
            reply.bulkAscii(Long.toString(replicas.acknowledgedBy(replica)));
        }
    }

    private static void replicaOf(CommandContext context) {
        if (context.server().cluster() != null) {
            context.reply().error("ERR REPLICAOF not allowed in cluster mode.");
        } else if (context.client().isReplica()) {
            context.reply().error("ERR Command is not valid when client is a replica.");
        } else if (!context.server().role().failoverState().equals(ReplicaRole.NO_FAILOVER)) {
            context.reply().error("ERR REPLICAOF not allowed while failing over.");
        } else if (context.argumentIs(1, "NO") && context.argumentIs(2, "ONE")) {
            followNone(context);
        } else if (!context.isLong(2) || context.longValue() < 0 || context.longValue() > MAX_PORT) {
            context.reply().error("ERR Invalid master port");
        } else {
            String host = context.argumentString(1);
            if (host.isEmpty() || host.chars().anyMatch(Character::isWhitespace)) {
                context.reply().error("ERR Invalid master host");
            } else {
                follow(context, host, (int) context.longValue());
            }
        }
    }

    private static void follow(CommandContext context, String host, int port) {
        ServerState server = context.server();
        if (server.flash() != null) {
            context.reply().error("ERR a server with flash-dir cannot be a replica: its primary decides which keys it"
                    + " has, and the flash tier drops keys by itself");
            return;
        }
        ReplicaRole.Status status = server.role().status();
        if (status != null && status.port() == port && status.host().equalsIgnoreCase(host)) {
            context.reply().simple("OK Already connected to specified master");
            return;
        }
        server.role().follow(host, port);
        server.remember(host + " " + port);
        context.reply().ok();
    }

    private static void followNone(CommandContext context) {
        ServerState server = context.server();
        server.remember("");
        if (!server.role().isReplica()) {
            context.reply().ok();
        } else if (context.isInTransaction()) {
            // The transaction may hold shards that the primary's commands wait for.
            server.role().followNone(() -> {});
            context.reply().ok();
        } else {
            ParkedCommand wait = context.park(0, ReplyWriter::ok);
            server.role().followNone(() -> wait.answer(ReplyWriter::ok));
        }
    }

    private static void failover(CommandContext context) {
        if (context.server().cluster() != null) {
            context.reply().error("ERR FAILOVER not allowed in cluster mode.");
            return;
        }
        ReplicaRole role = context.server().role();
        int arguments = context.argumentCount();
        if (arguments == 2 && context.argumentIs(1, "ABORT")) {
            if (role.abortFailover()) {
                context.reply().ok();
            } else {
                context.reply().error("ERR No failover in progress.");
            }
            return;
        }
        long timeoutMillis = 0;
        String host = null;
        int port = 0;
        boolean force = false;
        for (int i = 1; i < arguments; i++) {
            if (context.argumentIs(i, "TIMEOUT") && i + 1 < arguments && timeoutMillis == 0) {
                if (!context.requireLong(++i)) {
                    return;
                }
                timeoutMillis = context.longValue();
                if (timeoutMillis <= 0) {
                    context.reply().error("ERR FAILOVER timeout must be greater than 0");
                    return;
                }
            } else if (context.argumentIs(i, "TO") && i + 2 < arguments && host == null) {
                host = context.argumentString(i + 1);
                i += 2;
                if (!context.requireLong(i)) {
                    return;
                }
                port = Math.clamp(context.longValue(), 0, MAX_PORT);
            } else if (context.argumentIs(i, "FORCE") && !force) {
                force = true;
            } else {
                context.syntaxError();
                return;
            }
        }
        String error = role.isReplica()
                ? "FAILOVER is not valid when server is a replica."
                : role.failOver(host, port, force, timeoutMillis);
        if (error == null) {
            context.reply().ok();
        } else {
            context.reply().error("ERR " + error);
        }
    }
}
