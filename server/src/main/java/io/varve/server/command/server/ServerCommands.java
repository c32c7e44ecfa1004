package io.varve.server.command.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.server.admin.InfoReport;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.FlashAnswers;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import io.varve.server.command.Suspension;

import static io.varve.server.command.CommandFlag.ADMIN;
import static io.varve.server.command.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.NO_ASYNC_LOADING;
import static io.varve.server.command.CommandFlag.NO_MULTI;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.STALE;
import static io.varve.server.command.CommandFlag.WRITE;

/** The server as a whole: INFO, DBSIZE, FLUSHALL, SWAPDB, SHUTDOWN, and what belongs to persistence. Immutable. */
public final class ServerCommands {
    private static final int MAX_INFO_ARGUMENTS = 256;

    private final ServerContext server;
    private final Cache cache;
    private final InfoReport report;

    public ServerCommands(ServerContext server) {
        this.server = server;
        cache = server.cache();
        report = server.report();
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        table.add(describe("info").arity(-1).looksAtAllKeys().flags(LOADING, STALE).categories("@dangerous")
                .tips("nondeterministic_output", "request_policy:all_shards", "response_policy:special")
                .summary("Tells of the server, section by section.").handler(this::info));
        table.add(describe("dbsize").arity(1).looksAtAllKeys().waitsForFlash().flags(READONLY, FAST)
                .categories("@keyspace")
                .tips("request_policy:all_shards", "response_policy:agg_sum")
                .summary("How many keys the selected database has.")
                .handler(this::dbSize));
        table.add(describe("flushall").arity(-1).changesAllKeys().waitsForFlash().flags(WRITE)
                .categories("@keyspace", "@dangerous")
                .complexity("O(N) where N is the total number of keys in all databases")
                .tips("request_policy:all_shards", "response_policy:all_succeeded").summary("Empties all databases.")
                .handler(call -> flush(call, true)));
        table.add(describe("flushdb").arity(-1).changesAllKeys().waitsForFlash().flags(WRITE)
                .categories("@keyspace", "@dangerous")
                .complexity("O(N) where N is the number of keys in the selected database")
                .tips("request_policy:all_shards", "response_policy:all_succeeded")
                .summary("Empties the selected database.").handler(call -> flush(call, false)));
        table.add(describe("swapdb").arity(3).changesAllKeys().waitsForFlash().flags(WRITE, FAST)
                .categories("@keyspace", "@dangerous")
                .since("4.0.0")
                .complexity("O(N) where N is the count of clients watching or blocking on keys from both databases.")
                .summary("Exchanges two databases.").handler(this::swapDb));
        table.add(describe("time").arity(1).flags(LOADING, STALE, FAST).since("2.6.0").tips("nondeterministic_output")
                .summary("The server's clock: seconds and microseconds.").handler(ServerCommands::time));
        persistence(table);
        ReplicationCommands.addTo(table);
        ClusterCommands.addTo(table);
        ScriptingCommands.addTo(table);
    }

    private void persistence(CommandTable.Builder table) {
        table.add(describe("shutdown").arity(-1)
                .flags(ADMIN, NOSCRIPT, LOADING, STALE, NO_MULTI, ALLOW_BUSY)
                .complexity("O(N) when saving, where N is the total number of keys in all databases, otherwise O(1)")
                .summary("Ends the server.").handler(this::shutdown));
        table.add(describe("save").arity(1).flags(ADMIN, NOSCRIPT, NO_ASYNC_LOADING, NO_MULTI)
                .complexity("O(N) where N is the total number of keys in all databases")
                .summary("Writes the data set to disk: there is nothing to write, so it succeeds.").handler(call -> {
                    server.saved();
                    call.reply().ok();
                }));
        table.add(describe("bgsave").arity(-1).flags(ADMIN, NOSCRIPT, NO_ASYNC_LOADING)
                .summary("Writes the data set to disk in the background: there is nothing to write.")
                .handler(this::backgroundSave));
        table.add(describe("lastsave").arity(1).flags(LOADING, STALE, FAST).categories("@admin", "@dangerous")
                .tips("nondeterministic_output").summary("When the data set was last saved, in Unix time.")
                .handler(call -> call.reply().integer(server.lastSaveSeconds())));
    }

    private static CommandBuilder describe(String name) {
        return CommandSpec.named(name).group("server");
    }

    private void info(Invocation call) {
        List<String> sections = new ArrayList<>();
        // A request may have millions of arguments, but there are few sections.
        for (int i = 1; i < Math.min(call.argumentCount(), MAX_INFO_ARGUMENTS); i++) {
            sections.add(call.argumentString(i).toLowerCase(Locale.ROOT));
        }
        call.reply().verbatim("txt", report.write(sections));
    }

    private void flush(Invocation call, boolean all) {
        boolean known = call.argumentCount() == 1
                || call.argumentCount() == 2 && (call.argumentIs(1, "ASYNC") || call.argumentIs(1, "SYNC"));
        if (!known) {
            call.syntaxError();
            return;
        }
        FlashTier flash = server.flash();
        call.countChanges(keys(call, all));
        if (flash != null) {
            FlashAnswers.okLater(call, all ? flash.flushAll() : flash.flush(call.database()));
            return;
        }
        if (all) {
            cache.flushAll();
        } else {
            cache.flush(call.database());
        }
        call.reply().ok();
    }

    /** How many keys there are in memory that FLUSHALL or FLUSHDB removes. */
    private long keys(Invocation call, boolean all) {
        if (!all) {
            return cache.size(call.database());
        }
        long keys = 0;
        for (int i = 0; i < cache.databaseCount(); i++) {
            keys += cache.size(i);
        }
        return keys;
    }

    private void dbSize(Invocation call) {
        FlashTier flash = server.flash();
        int database = call.database();
        if (flash == null) {
            call.reply().integer(cache.size(database));
            return;
        }
        // At once, but for a while after a start.
        Suspension waiting = call.suspend(0, _ -> {});
        flash.whenComplete(() -> {
            long size = cache.size(database, flash::count);
            waiting.answer(reply -> reply.integer(size));
        });
    }

    private void swapDb(Invocation call) {
        if (!call.isLong(1) || call.longValue() != (int) call.longValue()) {
            call.reply().error("ERR invalid first DB index");
            return;
        }
        long first = call.longValue();
        if (!call.isLong(2) || call.longValue() != (int) call.longValue()) {
            call.reply().error("ERR invalid second DB index");
            return;
        }
        long second = call.longValue();
        int count = cache.databaseCount();
        if (first < 0 || first >= count || second < 0 || second >= count) {
            call.reply().error("ERR DB index is out of range");
            return;
        }
        call.countChanges(1);
        FlashTier flash = server.flash();
        if (flash != null && first != second) {
            FlashAnswers.okLater(call, flash.swap((int) first, (int) second));
            return;
        }
        if (first != second) {
            cache.swap((int) first, (int) second);
        }
        call.reply().ok();
    }

    private static void time(Invocation call) {
        java.time.Instant now = java.time.Instant.now();
        call.reply().array(2);
        call.reply().bulkLong(now.getEpochSecond());
        call.reply().bulkLong(now.getNano() / 1000);
    }

    private void shutdown(Invocation call) {
        boolean save = false;
        boolean noSave = false;
        boolean abort = false;
        boolean other = false;
        for (int i = 1; i < call.argumentCount(); i++) {
            if (call.argumentIs(i, "SAVE")) {
                save = true;
            } else if (call.argumentIs(i, "NOSAVE")) {
                noSave = true;
            } else if (call.argumentIs(i, "NOW") || call.argumentIs(i, "FORCE")) {
                other = true;
            } else if (call.argumentIs(i, "ABORT")) {
                abort = true;
            } else {
                call.syntaxError();
                return;
            }
        }
        if (abort && (save || noSave || other) || save && noSave) {
            call.syntaxError();
        } else if (abort) {
            call.reply().error("ERR No shutdown in progress.");
        } else {
            call.client().closeAfterReply();
            server.shutdown("SHUTDOWN from " + call.client().address());
        }
    }

    private void backgroundSave(Invocation call) {
        if (call.argumentCount() > 2 || call.argumentCount() == 2 && !call.argumentIs(1, "SCHEDULE")) {
            call.syntaxError();
            return;
        }
        server.saved();
        call.reply().simple("Background saving started");
    }
}
