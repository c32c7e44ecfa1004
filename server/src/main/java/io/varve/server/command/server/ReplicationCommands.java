package io.varve.server.command.server;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ManualFailover;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.persistence.AppendLog;
import io.varve.server.replication.Replica;
import io.varve.server.replication.ReplicaRole;
import io.varve.server.replication.Replicas;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_ASYNC_LOADING;
import static io.varve.server.command.spec.CommandFlag.NO_MULTI;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** PSYNC, REPLCONF, WAIT and WAITAOF: the replicas of this server. Immutable: static handlers. */
final class ReplicationCommands {
    /** Heap bytes of a waiting client. */
    private static final long WAITING_BYTES = 1 << 10;
    private static final int MAX_PORT = 65_535;

    private ReplicationCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("wait").group("generic").arity(3).flags(CommandFlag.BLOCKING)
                .tips("request_policy:all_shards", "response_policy:agg_min").since("3.0.0")
                .categories("@connection")
                .summary("Waits until replicas have acknowledged the client's writes; returns how many have")
                .handler(ReplicationCommands::await));
        table.add(CommandBuilder.named("waitaof").group("generic").arity(4).flags(CommandFlag.BLOCKING)
                .tips("request_policy:all_shards", "response_policy:agg_min").since("7.2.0")
                .categories("@connection")
                .summary("Waits until the client's writes are on disk here and on replicas")
                .handler(ReplicationCommands::awaitDisks));
        table.add(CommandBuilder.named("psync").group("server").arity(-3)
                .flags(ADMIN, NOSCRIPT, NO_ASYNC_LOADING, NO_MULTI).since("2.8.0")
                .summary("Makes the connection that of a replica, which continues or begins anew")
                .handler(ReplicationCommands::synchronize));
        table.add(CommandBuilder.named("sync").group("server").arity(1)
                .flags(ADMIN, NOSCRIPT, NO_ASYNC_LOADING, NO_MULTI).since("1.0.0")
                .summary("Makes the connection that of a replica of an old version")
                .handler(ReplicationCommands::oldSynchronize));
        table.add(CommandBuilder.named("replconf").group("server").arity(-1)
                .flags(ADMIN, NOSCRIPT, LOADING, STALE, CommandFlag.ALLOW_BUSY).since("3.0.0")
                .summary("What a replica says about itself").handler(ReplicationCommands::configure));
    }

    // --- a replica's connection

    private static void synchronize(CommandContext context) {
        boolean takesOver = context.argumentCount() == 4 && context.argumentIs(3, "FAILOVER");
        if (context.argumentCount() != 3 && !takesOver) {
            context.syntaxError();
        } else if (context.requireLong(2)) {
            if (takesOver && context.server().cluster() != null) {
                context.reply().error("ERR PSYNC FAILOVER is not allowed in cluster mode.");
            } else if (takesOver && context.server().role().isReplica()) {
                takeOver(context);
            } else {
                attach(context, context.argumentString(1), context.longValue());
            }
        }
    }

    /** The primary hands its role to this server, and then becomes its replica. */
    private static void takeOver(CommandContext context) {
        ServerState server = context.server();
        if (!context.argumentString(1).equals(server.replicas().id())) {
            context.reply().error("ERR PSYNC FAILOVER replid must match my replid.");
            return;
        }
        server.remember("");
        ParkedCommand wait = context.parkForRetry();
        server.role().followNone(wait::resume);
    }

    private static void oldSynchronize(CommandContext context) {
        if (!context.client().isReplica()) {
            replica(context).repliesWithData();
            attach(context, "?", -1);
        }
    }

    /** There is no reply: the connection sends what its feed has. */
    private static void attach(CommandContext context, String id, long offset) {
        Client client = context.client();
        if (client.isReplica()) {
            return;
        }
        ReplicaRole role = context.server().role();
        if (role.isReplica() && !role.isUp()) {
            context.reply().error("NOMASTERLINK Can't SYNC while not connected with my master");
            return;
        }
        ClusterState cluster = context.server().cluster();
        if (cluster != null && !cluster.hasLease()) {
            // A primary that has started again may have less data than its replicas. They keep theirs until the
            // controllers have decided who is the primary.
            context.reply().error("NOMASTERLINK Can't SYNC while this member has no lease");
            return;
        }
        Replica replica = replica(context);
        client.becomeReplica();
        client.replyMode(Client.ReplyMode.OFF);
        client.connection().feed(replica);
        context.server().replicas().attach(replica, id, offset);
    }

    private static Replica replica(CommandContext context) {
        Client client = context.client();
        Replica known = client.replica();
        if (known != null) {
            return known;
        }
        String address = client.address();
        Replica introduced = context.server().replicas().introduce(client.connection(),
                address.substring(0, address.lastIndexOf(':')).replace("[", "").replace("]", ""));
        client.replica(introduced);
        return introduced;
    }

    /** Pairs of an option and its value. */
    private static void configure(CommandContext context) {
        int arguments = context.argumentCount();
        if (arguments % 2 == 0) {
            context.syntaxError();
            return;
        }
        for (int i = 1; i < arguments; i += 2) {
            if (context.argumentIs(i, "ACK")) {
                acknowledge(context, i + 1);
                return;
            }
            if (context.argumentIs(i, "VARVE-FAILOVER")) {
                handOver(context, context.argumentString(i + 1));
                return;
            }
            if (context.argumentIs(i, "GETACK")) {
                // The primary asks: the thread that reads its commands answers.
                return;
            }
            if (!isSet(context, i)) {
                return;
            }
        }
        context.reply().ok();
    }

    /** A replica asks for the role of this primary. */
    private static void handOver(CommandContext context, String memberId) {
        ClusterState cluster = context.server().cluster();
        ManualFailover failover = cluster == null ? null : cluster.manualFailover();
        if (failover == null || context.isInTransaction()) {
            context.reply().error("ERR This server cannot hand over its role");
            return;
        }
        ParkedCommand wait = context.park(0, _ -> {});
        failover.handOver(memberId, failure -> wait.answer(reply -> {
            if (failure == null) {
                reply.ok();
            } else {
                reply.error("ERR " + failure);
            }
        }));
    }

    private static void acknowledge(CommandContext context, int argument) {
        Client client = context.client();
        Replica replica = client.replica();
        if (!client.isReplica() || replica == null || !context.isLong(argument)) {
            return;
        }
        long offset = context.longValue();
        int onDisk = argument + 2;
        if (onDisk < context.argumentCount() && context.argumentIs(onDisk - 1, "FACK") && context.isLong(onDisk)) {
            context.server().replicas().acknowledge(replica, offset, context.longValue());
        } else {
            context.server().replicas().acknowledge(replica, offset);
        }
    }

    /** @return false if the value is wrong, and an error was replied */
    private static boolean isSet(CommandContext context, int option) {
        int value = option + 1;
        if (context.argumentIs(option, "LISTENING-PORT")) {
            if (!context.requireLong(value)) {
                return false;
            }
            replica(context).port(Math.clamp(context.longValue(), 0, MAX_PORT));
        } else if (context.argumentIs(option, "IP-ADDRESS")) {
            replica(context).host(context.argumentString(value));
        } else if (context.argumentIs(option, "CAPA")) {
            if (context.argumentIs(value, "EOF")) {
                replica(context).readsToMark(true);
            } else if (context.argumentIs(value, "PSYNC2")) {
                replica(context).resumesByName(true);
            }
        } else if (context.argumentIs(option, "RDB-ONLY")) {
            if (!context.requireLong(value)) {
                return false;
            }
            replica(context).onlySnapshot(context.longValue() == 1);
        } else if (context.argumentIs(option, "RDB-FILTER-ONLY") && context.argumentLength(value) == 0) {
            // It discards the snapshot, so it does not matter that it gets all of it: redis-cli --replica.
            return true;
        } else if (context.argumentIs(option, "VARVE-MEMBER")) {
            replica(context).memberId(context.argumentString(value));
        } else if (context.argumentIs(option, "VARVE-GENERATION")) {
            if (!context.requireLong(value)) {
                return false;
            }
            replica(context).generation(context.longValue());
        } else if (!context.argumentIs(option, "VERSION")) {
            context.reply().error(Errors.endingWith("ERR Unrecognized REPLCONF option: ",
                    context.argumentString(option)));
            return false;
        }
        return true;
    }

    // --- clients

    private static void await(CommandContext context) {
        if (context.server().role().isReplica()) {
            context.reply().error(
                    "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is"
                            + " configured to be writable (which is not the default) writes to replicas are just local and"
                            + " are not propagated.");
            return;
        }
        if (!context.requireLong(1)) {
            return;
        }
        long wanted = context.longValue();
        long timeoutMillis = timeout(context, 2);
        if (timeoutMillis < 0) {
            return;
        }
        if (!mayPromise(context)) {
            return;
        }
        int acknowledged = context.server().replicas().acknowledged(context.client().repliesAfter());
        if (acknowledged >= wanted || context.isInTransaction()) {
            context.reply().integer(acknowledged);
        } else {
            wait(context, wanted, timeoutMillis);
        }
    }

    /**
     * Whether a wait for replicas says that a change stays, after an error was replied if it does not: without a lease,
     * another member may become the primary that lacks it.
     */
    private static boolean mayPromise(CommandContext context) {
        ClusterState cluster = context.server().cluster();
        if (cluster != null && !cluster.hasLease()) {
            context.reply().error("CLUSTERDOWN The cluster is down");
            return false;
        }
        context.client().servedUnderLease(true);
        return true;
    }

    /** The timeout in an argument, in ms; negative after an error was replied. */
    private static long timeout(CommandContext context, int argument) {
        if (!context.requireLong(argument, "ERR timeout is not an integer or out of range")) {
            return -1;
        }
        long millis = context.longValue();
        if (millis < 0) {
            context.reply().error("ERR timeout is negative");
        } else if (millis > Long.MAX_VALUE - context.server().ticker().wallMillis()) {
            context.reply().error("ERR timeout is out of range");
            return -1;
        }
        return millis;
    }

    private static void wait(CommandContext context, long wanted, long timeoutMillis) {
        Replicas replicas = context.server().replicas();
        long offset = context.client().repliesAfter();
        Client client = context.client();
        Consumer<ReplyWriter> count = reply -> {
            // Another primary may lack what a replica has acknowledged after the end of the lease.
            client.servedUnderLease(true);
            reply.integer(replicas.acknowledged(offset));
        };
        ParkedCommand wait = park(context, timeoutMillis, count);
        if (wait == null) {
            return;
        }
        Runnable acknowledged = () -> wait.answer(count);
        onFinish(context, wait, () -> replicas.cancel(acknowledged));
        replicas.whenAcknowledged(() -> replicas.acknowledged(offset) >= wanted, acknowledged);
    }

    /** Parks a command that clients may end; null after an error was replied. */
    private static @Nullable ParkedCommand park(CommandContext context, long timeoutMillis,
            Consumer<ReplyWriter> answer) {
        if (!context.server().argumentMemory().tryReserve(WAITING_BYTES)) {
            context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return null;
        }
        ParkedCommand wait = context.park(timeoutMillis, answer);
        wait.allowUnblock();
        return wait;
    }

    private static void onFinish(CommandContext context, ParkedCommand wait, Runnable action) {
        RequestHeapBudget memory = context.server().argumentMemory();
        wait.onFinish(() -> {
            action.run();
            memory.release(WAITING_BYTES);
        });
    }

    /** WAITAOF: the client's changes are on this disk, and on those of replicas. */
    private static void awaitDisks(CommandContext context) {
        if (context.server().role().isReplica()) {
            context.reply().error(
                    "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are"
                            + " just local and are not propagated.");
            return;
        }
        if (!context.requireLong(1)) {
            return;
        }
        long wantedHere = context.longValue();
        if (wantedHere < 0 || wantedHere > 1) {
            context.reply().error("ERR value is out of range, value must between 0 and 1");
            return;
        }
        if (!context.requireLong(2)) {
            return;
        }
        long wantedReplicas = context.longValue();
        if (wantedReplicas < 0) {
            context.reply().error("ERR value is out of range, must be positive");
            return;
        }
        long timeoutMillis = timeout(context, 3);
        if (timeoutMillis < 0) {
            return;
        }
        if (!mayPromise(context)) {
            return;
        }
        AppendLog log = context.server().log();
        if (wantedHere > 0 && !log.isOpen()) {
            context.reply().error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
            return;
        }
        Replicas replicas = context.server().replicas();
        long offset = context.client().repliesAfter();
        IntSupplier here = () -> log.isForced(offset) ? 1 : 0;
        Client client = context.client();
        Consumer<ReplyWriter> counts = reply -> {
            client.servedUnderLease(true);
            reply.array(2);
            reply.integer(here.getAsInt());
            reply.integer(replicas.acknowledgedOnDisk(offset));
        };
        BooleanSupplier condition = () -> here.getAsInt() >= wantedHere
                && replicas.acknowledgedOnDisk(offset) >= wantedReplicas;
        if (condition.getAsBoolean() || context.isInTransaction()) {
            counts.accept(context.reply());
            return;
        }
        ParkedCommand wait = park(context, timeoutMillis, counts);
        if (wait == null) {
            return;
        }
        Runnable check = () -> {
            // Without a log there is nothing to wait for any more.
            if (condition.getAsBoolean() || wantedHere > 0 && !log.isOpen()) {
                wait.answer(counts);
            }
        };
        onFinish(context, wait, () -> {
            log.cancelForced(check);
            replicas.cancel(check);
        });
        if (wantedReplicas > 0) {
            replicas.whenAcknowledged(condition, check);
        }
        log.whenForced(offset, check);
    }
}
