package io.varve.server.command.persistence;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import io.varve.flash.tier.FlashTier;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.persistence.Snapshots;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.script.FunctionLibraries.Collision;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_ASYNC_LOADING;
import static io.varve.server.command.spec.CommandFlag.NO_MULTI;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** SAVE, BGSAVE, LASTSAVE and BGREWRITEAOF. Immutable. */
public final class PersistenceCommands {
    private static final String RUNNING = "ERR Background save already in progress";

    private final ServerState server;

    public PersistenceCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(describe("save").arity(1).flags(ADMIN, NOSCRIPT, NO_ASYNC_LOADING, NO_MULTI)
                .complexity("O(N) where N is the total number of keys in all databases")
                .summary("Saves a snapshot of all databases and replies when it is on disk").handler(this::save));
        table.add(describe("bgsave").arity(-1).flags(ADMIN, NOSCRIPT, NO_ASYNC_LOADING)
                .summary("Saves a snapshot of all databases in the background")
                .handler(this::backgroundSave));
        table.add(describe("bgrewriteaof").arity(1).flags(ADMIN, NOSCRIPT, NO_ASYNC_LOADING)
                .summary("Rewrites the append-only log in the background").handler(this::rewriteLog));
        table.add(describe("lastsave").arity(1).flags(LOADING, STALE, FAST).categories("@admin", "@dangerous")
                .tips("nondeterministic_output").summary("Returns the Unix timestamp of the last successful save")
                .handler(context -> context.reply().integer(server.telemetry().snapshots().lastSaveSeconds())));
    }

    /** The subcommands of DEBUG that concern snapshots. */
    public void debug(CommandBuilder debug) {
        debug.subcommand(debugging("digest", 2, "Returns a digest of all data").traits(CommandTrait.LOCKS_ALL_SHARDS)
                .handler(this::digest));
        debug.subcommand(debugging("reload", -2, "Saves a snapshot and loads it again").handler(this::reload));
    }

    private static CommandBuilder debugging(String name, int arity, String summary) {
        return CommandBuilder.named(name).arity(arity).group("server").flags(ADMIN, NOSCRIPT, LOADING, STALE)
                .traits(CommandTrait.DEBUG_ONLY).summary(summary);
    }

    private void digest(CommandContext context) {
        FlashTier flash = server.flash();
        if (flash != null) {
            digestOverFlash(context, flash);
            return;
        }
        try {
            context.reply().simple(DatasetDigest.of(server));
        } catch (IllegalStateException saving) {
            context.reply().error("ERR a snapshot is being saved: " + saving.getMessage());
        }
    }

    /** Without locks: the threads of the flash tier may need them. */
    private void digestOverFlash(CommandContext context, FlashTier flash) {
        if (context.isInTransaction()) {
            context.reply().error("ERR DEBUG DIGEST is not allowed in transactions with flash-dir");
            return;
        }
        ParkedCommand waiting = context.park(0, _ -> {});
        AtomicReference<String> digest = new AtomicReference<>("");
        Snapshots.Task task = () -> {
            CountDownLatch complete = new CountDownLatch(1);
            flash.whenComplete(complete::countDown);
            await(complete);
            digest.set(DatasetDigest.of(server));
        };
        // The reply comes when the thread has ended, so that the client's next command can begin another task.
        boolean begun = server.snapshots().start(false, task, failure -> waiting.answer(failure == null
                ? reply -> reply.simple(Objects.requireNonNull(digest.get()))
                : reply -> reply.error("ERR " + failure)));
        if (!begun) {
            waiting.answer(reply -> reply.error(RUNNING));
        }
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("the server is closing", interrupted);
        }
    }

    /** Other clients find the databases empty meanwhile. */
    private void reload(CommandContext context) {
        if (context.isInTransaction()) {
            context.reply().error("ERR DEBUG RELOAD is not allowed in transactions");
            return;
        }
        if (context.server().role().isReplica()) {
            context.reply().error("ERR DEBUG RELOAD is not possible at a replica, whose primary changes the data"
                    + " meanwhile");
            return;
        }
        boolean saves = true;
        boolean flushes = true;
        boolean merges = false;
        for (int i = 2; i < context.argumentCount(); i++) {
            if (context.argumentIs(i, "NOSAVE")) {
                saves = false;
            } else if (context.argumentIs(i, "NOFLUSH")) {
                flushes = false;
            } else if (context.argumentIs(i, "MERGE")) {
                merges = true;
            } else {
                context.reply().error("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
                return;
            }
        }
        boolean flushesFirst = flushes;
        Collision collision = merges ? Collision.REPLACE : Collision.APPEND;
        ParkedCommand waiting = context.park(0, _ -> {});
        Snapshots.Task load = () -> server.logLifecycle().replaceData(flushesFirst ? this::flushAll : () -> {},
                () -> SnapshotLoader.reload(server, flushesFirst ? Collision.FLUSH : collision));
        boolean begun = server.snapshots().start(saves, load, failure -> waiting.answer(failure == null
                ? ReplyWriter::ok
                : reply -> reply.error("ERR Error trying to load the RDB dump: " + failure)));
        if (!begun) {
            waiting.answer(reply -> reply.error(RUNNING));
        }
    }

    private void flushAll() {
        FlashTier flash = server.flash();
        if (flash == null) {
            server.cache().flushAll();
        } else {
            flash.flushAll().join();
        }
    }

    private static CommandBuilder describe(String name) {
        return CommandBuilder.named(name).group("server");
    }

    /** Other clients are served meanwhile, unlike in Redis. */
    private void save(CommandContext context) {
        ParkedCommand waiting = context.park(0, _ -> {});
        boolean begun = server.snapshots().start(failure -> waiting.answer(failure == null
                ? ReplyWriter::ok
                : reply -> reply.error("ERR the snapshot was not saved: " + failure)));
        if (!begun) {
            waiting.answer(reply -> reply.error(RUNNING));
        }
    }

    private void rewriteLog(CommandContext context) {
        switch (server.logLifecycle().rewrite()) {
            case STARTED -> context.reply().simple("Background append only file rewriting started");
            case SCHEDULED -> context.reply().simple("Background append only file rewriting scheduled");
            case RUNNING -> context.reply().error("ERR Background append only file rewriting already in progress");
            case CLOSED -> context.reply().error("ERR appendonly is no: there is no log to rewrite");
        }
    }

    private void backgroundSave(CommandContext context) {
        boolean schedule = context.argumentCount() == 2 && context.argumentIs(1, "SCHEDULE");
        if (context.argumentCount() > 1 && !schedule) {
            context.syntaxError();
        } else if (server.snapshots().start(_ -> {})) {
            context.reply().simple("Background saving started");
        } else if (schedule) {
            server.snapshots().request(_ -> {});
            context.reply().simple("Background saving scheduled");
        } else {
            context.reply().error(RUNNING);
        }
    }
}
