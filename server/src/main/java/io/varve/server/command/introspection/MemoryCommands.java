package io.varve.server.command.introspection;

import java.util.List;

import io.varve.memory.CacheStats;
import io.varve.server.admin.MemoryFigures;
import io.varve.server.admin.MemoryReport;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.READONLY;

/** Where memory goes: MEMORY. Immutable. */
public final class MemoryCommands {
    private static final String[] OF_EACH_SHARD = {"nondeterministic_output", "request_policy:all_shards",
            "response_policy:special"};
    private static final int PERCENT = 100;

    private final ServerContext server;

    public MemoryCommands(ServerContext server) {
        this.server = server;
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        table.add(CommandSpec.named("memory").arity(-2).group("server").since("4.0.0")
                .complexity("Depends on subcommand.").summary("Tells where memory goes.")
                .subcommand(CommandSpec.named("usage").arity(-3).group("server").since("4.0.0").flags(READONLY).key(2)
                        .access("RO")
                        .complexity("O(N) where N is the number of samples.").summary("Bytes that a key takes.")
                        .handler(MemoryCommands::usage))
                .subcommand(report("stats", "Figures about memory.").looksAtAllKeys().tips(OF_EACH_SHARD)
                        .handler(this::stats))
                .subcommand(report("doctor", "Says in words what is wrong with memory.").tips(OF_EACH_SHARD)
                        .handler(call -> call.reply().verbatim("txt",
                                MemoryReport.diagnosis(server.report().memory(), server.connectedClients()))))
                .subcommand(report("purge", "Gives all free memory back to the system, soon.")
                        .tips("request_policy:all_shards", "response_policy:all_succeeded").handler(call -> {
                            server.cache().giveBackSoon();
                            call.reply().ok();
                        }))
                .subcommand(report("malloc-stats", "The allocator's own report.").tips(OF_EACH_SHARD)
                        .handler(call -> call.reply().verbatim("txt",
                                MemoryReport.ofAllocator(server.report().memory()))))
                .subcommand(HelpText.describe("server", "4.0.0")
                        .handler(call -> HelpText.reply(call.reply(), "MEMORY", "DOCTOR",
                                "    Return memory problems reports.", "MALLOC-STATS",
                                "    Return internal statistics report from the memory allocator.", "PURGE",
                                "    Attempt to purge dirty pages for reclamation by the allocator.", "STATS",
                                "    Return information about the memory usage of the server.",
                                "USAGE <key> [SAMPLES <count>]",
                                "    Return memory in bytes used by <key> and its value."))));
    }

    private static CommandBuilder report(String name, String summary) {
        return CommandSpec.named(name).arity(2).group("server").since("4.0.0").summary(summary);
    }

    private static void usage(Invocation call) {
        for (int i = 3; i < call.argumentCount(); i += 2) {
            if (!call.argumentIs(i, "SAMPLES") || i + 1 >= call.argumentCount()) {
                call.syntaxError();
                return;
            }
            if (!call.requireLong(i + 1)) {
                return;
            }
            if (call.longValue() < 0) {
                call.syntaxError();
                return;
            }
        }
        // MEMORY USAGE leaves no trace at all, unlike OBJECT.
        if (call.session().peek(call.key(2), call.item())) {
            call.reply().integer(call.session().memoryUsage(call.item()));
        } else {
            call.reply().nil();
        }
    }

    // --- STATS

    private void stats(Invocation call) {
        MemoryFigures figures = server.report().memory();
        CacheStats stats = figures.stats();
        Pairs pairs = new Pairs(call.reply());
        pairs.add("peak.allocated", figures.peakBytes());
        pairs.add("total.allocated", figures.usedBytes());
        pairs.add("startup.allocated", figures.startupBytes());
        pairs.add("replication.backlog", 0);
        pairs.add("clients.slaves", 0);
        pairs.add("clients.normal", figures.bufferBytes());
        pairs.add("cluster.links", 0);
        pairs.add("aof.buffer", 0);
        pairs.add("lua.caches", 0);
        pairs.add("functions.caches", 0);
        databases(pairs, stats);
        pairs.add("overhead.total", figures.overheadBytes());
        pairs.add("keys.count", stats.items());
        pairs.add("keys.bytes-per-key", stats.items() == 0
                ? 0
                : Math.max(0, figures.usedBytes() - figures.startupBytes()) / stats.items());
        pairs.add("dataset.bytes", stats.datasetBytes());
        pairs.addRatio("dataset.percentage", PERCENT * figures.datasetPart());
        pairs.addRatio("peak.percentage", PERCENT * figures.peakPart());
        pairs.add("allocator.allocated", stats.liveBytes());
        pairs.add("allocator.active", figures.activeBytes());
        pairs.add("allocator.resident", stats.reservedBytes());
        pairs.addRatio("allocator-fragmentation.ratio", figures.fragmentationRatio());
        pairs.add("allocator-fragmentation.bytes", figures.fragmentationBytes());
        pairs.addRatio("allocator-rss.ratio", figures.reservedRatio());
        pairs.add("allocator-rss.bytes", stats.reservedBytes() - figures.activeBytes());
        pairs.addRatio("rss-overhead.ratio", figures.residentOverReserved());
        pairs.add("rss-overhead.bytes", figures.residentBytes() - stats.reservedBytes());
        pairs.addRatio("fragmentation", figures.residentOverUsed());
        pairs.add("fragmentation.bytes", figures.residentBytes() - figures.usedBytes());
        pairs.end();
    }

    /** Of each that holds anything, what finding its keys and their times takes. */
    private static void databases(Pairs pairs, CacheStats stats) {
        List<CacheStats.Database> databases = stats.databases();
        long expiring = stats.expiringItems();
        for (int i = 0; i < databases.size(); i++) {
            CacheStats.Database database = databases.get(i);
            if (database.items() > 0) {
                ReplyWriter reply = pairs.addMap("db." + i, 3);
                reply.bulkAscii("overhead.hashtable.main");
                reply.integer(database.indexBytes());
                reply.bulkAscii("overhead.hashtable.expires");
                // Entries of all databases lie in the same chunks: each has its share.
                reply.integer(expiring == 0
                        ? 0
                        : Math.round((double) stats.expiryBytes() * database.expiringItems() / expiring));
                reply.bulkAscii("overhead.hashtable.slot-to-keys");
                reply.integer(0);
            }
        }
    }

    /** A map whose size is known at its end. Confined to one reply. */
    private static final class Pairs {
        private final ReplyWriter reply;
        private final long mark;
        private int count;

        Pairs(ReplyWriter reply) {
            this.reply = reply;
            mark = reply.beginDeferred();
        }

        void add(String name, long value) {
            named(name).integer(value);
        }

        void addRatio(String name, double value) {
            named(name).doubleValue(value);
        }

        /** A map, whose pairs the caller writes. */
        ReplyWriter addMap(String name, int pairs) {
            named(name).map(pairs);
            return reply;
        }

        private ReplyWriter named(String name) {
            count++;
            reply.bulkAscii(name);
            return reply;
        }

        void end() {
            reply.endMap(mark, count);
        }
    }
}
