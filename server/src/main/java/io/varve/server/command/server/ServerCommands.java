package io.varve.server.command.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.server.admin.InfoReport;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.blocking.DeferredFlashReplies;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.script.RunningScripts;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_MULTI;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.STALE;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** Commands on the whole server: INFO, DBSIZE, FLUSHALL, SWAPDB, SHUTDOWN and others. Immutable. */
public final class ServerCommands {
    private static final int MAX_INFO_ARGUMENTS = 256;

    private final ServerState server;
    private final Cache cache;
    private final InfoReport report;

    public ServerCommands(ServerState server) {
        this.server = server;
        cache = server.cache();
        report = server.telemetry().report();
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(describe("info").arity(-1).flags(LOADING, STALE)
                .categories("@dangerous")
                .tips("nondeterministic_output", "request_policy:all_shards", "response_policy:special")
                .summary("Returns information and statistics about the server").handler(this::info));
        table.add(describe("dbsize").arity(1).traits(CommandTrait.WAITS_FOR_FLASH)
                .flags(READONLY, FAST)
                .categories("@keyspace")
                .tips("request_policy:all_shards", "response_policy:agg_sum")
                .summary("Returns the number of keys in the selected database")
                .handler(this::dbSize));
        table.add(describe("flushall").arity(-1).traits(CommandTrait.WAITS_FOR_FLASH, CommandTrait.FLUSHES)
                .flags(WRITE)
                .categories("@keyspace", "@dangerous")
                .complexity("O(N) where N is the total number of keys in all databases")
                .tips("request_policy:all_shards", "response_policy:all_succeeded")
                .summary("Removes all keys from all databases")
                .handler(context -> flush(context, true)));
        table.add(describe("flushdb").arity(-1).traits(CommandTrait.WAITS_FOR_FLASH, CommandTrait.FLUSHES)
                .flags(WRITE)
                .categories("@keyspace", "@dangerous")
                .complexity("O(N) where N is the number of keys in the selected database")
                .tips("request_policy:all_shards", "response_policy:all_succeeded")
                .summary("Removes all keys from the selected database").handler(context -> flush(context, false)));
        table.add(describe("swapdb").arity(3).traits(CommandTrait.LOCKS_ALL_SHARDS, CommandTrait.WAITS_FOR_FLASH)
                .flags(WRITE, FAST)
                .categories("@keyspace", "@dangerous")
                .since("4.0.0")
                .complexity("O(N) where N is the count of clients watching or blocking on keys from both databases.")
                .summary("Swaps two databases").handler(this::swapDb));
        table.add(describe("time").arity(1).flags(LOADING, STALE, FAST).since("2.6.0").tips("nondeterministic_output")
                .summary("Returns the server's time in seconds and microseconds").handler(ServerCommands::time));
        shutdown(table);
        new Lolwut(server).addTo(table);
        ReplicationCommands.addTo(table);
        RoleCommands.addTo(table);
        ModuleCommands.addTo(table);
    }

    private void shutdown(CommandTable.Builder table) {
        table.add(describe("shutdown").arity(-1)
                .flags(ADMIN, NOSCRIPT, LOADING, STALE, NO_MULTI, ALLOW_BUSY)
                .complexity("O(N) when saving, where N is the total number of keys in all databases, otherwise O(1)")
                .summary("Stops the server").handler(this::shutdown));
    }

    private static CommandBuilder describe(String name) {
        return CommandBuilder.named(name).group("server");
    }

    private void info(CommandContext context) {
        List<String> sections = new ArrayList<>();
        // A request may have millions of arguments, but there are few sections.
        for (int i = 1; i < Math.min(context.argumentCount(), MAX_INFO_ARGUMENTS); i++) {
            sections.add(context.argumentString(i).toLowerCase(Locale.ROOT));
        }
        context.reply().verbatim("txt", report.write(sections));
    }

    private void flush(CommandContext context, boolean all) {
        boolean known = context.argumentCount() == 1
                || context.argumentCount() == 2 && (context.argumentIs(1, "ASYNC") || context.argumentIs(1, "SYNC"));
        if (!known) {
            context.syntaxError();
            return;
        }
        FlashTier flash = server.flash();
        boolean saves = all && server.snapshots().savesAtShutdown() && !server.load().isLoading();
        long removed = keys(context, all);
        if (flash != null) {
            context.countChanges(removed);
            CompletableFuture<Void> flushed = all ? flash.flushAll() : flash.flush(context.database());
            DeferredFlashReplies.okLater(context, saves ? flushed.thenCompose(_ -> saved()) : flushed);
            return;
        }
        if (all) {
            cache.flushAll();
        } else {
            cache.flush(context.database());
        }
        context.countChanges(removed);
        if (saves && !context.isInTransaction()) {
            DeferredFlashReplies.okLater(context, saved());
            return;
        }
        if (saves) {
            server.snapshots().request(_ -> {});
        }
        context.reply().ok();
    }

    /**
     * Saves a snapshot after FLUSHALL where there are save rules, as Redis does: else a start would bring back what was
     * flushed. Completes also if the save fails, which INFO and the rules deal with.
     */
    private CompletableFuture<Void> saved() {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        server.snapshots().request(_ -> ended.complete(null));
        return ended;
    }

    /** Number of keys in memory that FLUSHALL or FLUSHDB removes. */
    private long keys(CommandContext context, boolean all) {
        if (!all) {
            return cache.size(context.database());
        }
        long keys = 0;
        for (int i = 0; i < cache.databaseCount(); i++) {
            keys += cache.size(i);
        }
        return keys;
    }

    private void dbSize(CommandContext context) {
        FlashTier flash = server.flash();
        int database = context.database();
        if (flash == null) {
            context.reply().integer(cache.size(database));
            return;
        }
        // Replies at once, except during the first while after a start.
        ParkedCommand waiting = context.park(0, _ -> {});
        flash.whenComplete(() -> {
            long size = cache.size(database, flash::count);
            waiting.answer(reply -> reply.integer(size));
        });
    }

    private void swapDb(CommandContext context) {
        if (server.cluster() != null) {
            context.reply().error("ERR SWAPDB is not allowed in cluster mode");
            return;
        }
        if (!context.isLong(1) || context.longValue() != (int) context.longValue()) {
            context.reply().error("ERR invalid first DB index");
            return;
        }
        long first = context.longValue();
        if (!context.isLong(2) || context.longValue() != (int) context.longValue()) {
            context.reply().error("ERR invalid second DB index");
            return;
        }
        long second = context.longValue();
        int count = cache.databaseCount();
        if (first < 0 || first >= count || second < 0 || second >= count) {
            context.reply().error("ERR DB index is out of range");
            return;
        }
        context.countChanges(1);
        FlashTier flash = server.flash();
        if (flash != null && first != second) {
            DeferredFlashReplies.okLater(context, flash.swap((int) first, (int) second));
            return;
        }
        if (first != second) {
            cache.swap((int) first, (int) second);
        }
        context.reply().ok();
    }

    private static void time(CommandContext context) {
        java.time.Instant now = java.time.Instant.now();
        context.reply().array(2);
        context.reply().bulkLong(now.getEpochSecond());
        context.reply().bulkLong(now.getNano() / 1000);
    }

    private void shutdown(CommandContext context) {
        boolean save = false;
        boolean noSave = false;
        boolean abort = false;
        boolean other = false;
        boolean force = false;
        for (int i = 1; i < context.argumentCount(); i++) {
            if (context.argumentIs(i, "SAVE")) {
                save = true;
            } else if (context.argumentIs(i, "NOSAVE")) {
                noSave = true;
            } else if (context.argumentIs(i, "NOW") || context.argumentIs(i, "FORCE")) {
                other = true;
                force |= context.argumentIs(i, "FORCE");
            } else if (context.argumentIs(i, "ABORT")) {
                abort = true;
            } else {
                context.syntaxError();
                return;
            }
        }
        if (abort && (save || noSave || other) || save && noSave) {
            context.syntaxError();
            return;
        }
        if (abort) {
            context.reply().error("ERR No shutdown in progress.");
            return;
        }
        RunningScripts scripts = server.scripting().running();
        String busy = scripts.busyError();
        if (busy != null && !noSave) {
            // As in Redis: the data in memory is not whole.
            context.reply().error(busy);
            return;
        }
        if (noSave) {
            scripts.endAtShutdown();
        }
        // As in Redis: while data is loaded, a snapshot would replace the whole of it by a part.
        if (!server.load().isLoading() && (save || !noSave && server.snapshots().savesAtShutdown())) {
            saveAndShutDown(context, force, other);
        } else {
            context.client().closeAfterReply();
            shutDown(context.client().address(), false, other);
        }
    }

    private void shutDown(String address, boolean saves, boolean keepsRole) {
        ClusterState cluster = server.cluster();
        if (keepsRole && cluster != null) {
            cluster.keepRole();
        }
        server.snapshots().atShutdown(saves);
        server.shutdown("SHUTDOWN from " + address);
    }

    /**
     * Saves, then ends the process. If the save fails, the server keeps running. Changes that clients make during the
     * save are saved after the server has disconnected them.
     *
     * @param force whether to end the process even if the save fails
     * @param keepsRole whether a primary stops without a handover
     */
    private void saveAndShutDown(CommandContext context, boolean force, boolean keepsRole) {
        Client client = context.client();
        String address = client.address();
        ParkedCommand waiting = context.park(0, _ -> {});
        server.snapshots().request(failure -> {
            if (failure == null || force) {
                waiting.answer(_ -> client.closeAfterReply());
                // Also if the client has disconnected meanwhile.
                shutDown(address, failure == null, keepsRole);
            } else {
                waiting.answer(reply -> reply.error("ERR Errors trying to SHUTDOWN. Check logs."));
            }
        });
    }
}
